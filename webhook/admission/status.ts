import { statusAnnotation } from '../names.ts';
import { own, type Pod } from './pod.ts';

/** Who chose the profile: the namespace's label, or the pod's own. */
export type ChosenBy = 'namespace' | 'pod';

/** What the annotation `cni-gate.io/status` says. The order of the keys is part of its text. */
export interface Status {
  /** The cni-gate that wrote it. */
  version: string;
  /** The label's value: every profile asked for. */
  profile: string;
  chosenBy: ChosenBy;
  /** Those of them that promise something to this pod. */
  profiles: string[];
  /** The words of the checks that the init container makes. */
  checks: string[];
}

/** The pod's status annotation, as far as it can be read: anybody may have written it. */
export function readStatus(pod: Pod): Partial<Status> | undefined {
  const text = own(pod.metadata.annotations, statusAnnotation);
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
