import type { CheckName } from '../../../validator/shared/contract.ts';
import type {
  CheckOfProfile,
  ConfigurationFile,
  DaemonSetOfProfile,
  ProofContainer,
  ProofSection,
} from './configuration.ts';

export type * from './configuration.ts';

/** The name of a check: its only key, as the schema guarantees. */
export const checkNameOf = (check: CheckOfProfile): CheckName => Object.keys(check)[0] as CheckName;

/** A DaemonSet in a namespace. */
export interface DaemonSetRef {
  namespace: string;
  name: string;
}

/** Where a DaemonSet of a profile may be: one reference for each of its namespaces. */
export const placesOf = ({ namespace, name }: DaemonSetOfProfile): DaemonSetRef[] =>
  [namespace].flat().map((place) => ({ namespace: place, name }));

/** The user and group of a proof. If `asUser` names containers, they set both; otherwise, both ids are equal. */
export type Identity = Pick<ProofContainer, 'asUser' | 'notAsUser' | 'notAsGroup'>;

/** The configuration's section `proof`, with the image of this release if the file names no image. */
export type ProofSettings = Required<ProofSection>;

/** The configuration file with defaults, and with the built-in profiles and kinds that the file does not replace. */
export interface Configuration extends ConfigurationFile {
  proof: ProofSettings;
}
