import type { Operation } from 'fast-json-patch';
import type { ProofSettings } from '../config/types.ts';
import { CniGateError } from '../errors.ts';
import { podInfoVolume, profileLabel, statusAnnotation, validatorContainer } from '../names.ts';
import { version } from '../version.ts';
import { annotationChanges } from './annotations.ts';
import { type Choice, isOurs } from './choice.ts';
import { validatorFor, volumeFor } from './container.ts';
import { isCurrent, isOurContainer } from './current.ts';
import type { Demand } from './demand.ts';
import {
  appendOperations,
  headOperations,
  mapOperations,
  removeOperations,
  volumeOperations,
} from './patch.ts';
import { allContainers, type Container, own, type Pod } from './pod.ts';
import type { Status } from './status.ts';

export interface PodChange {
  operations: Operation[];
  warnings: string[];
}

/** Where our init container stands in the pod, or -1. */
export function injectedAt(pod: Pod): number {
  return (pod.spec.initContainers ?? []).findIndex((container) => isOurContainer(container, pod));
}

/** Whether an earlier call, of this version or another, left anything in the pod. */
function carriesInjection(pod: Pod): boolean {
  return injectedAt(pod) >= 0 || own(pod.metadata.annotations, statusAnnotation) !== undefined;
}

/**
 * What makes this pod prove what is demanded of it; nothing where it does already.
 *
 * @throws CniGateError CNI_GATE_NAME_TAKEN where the pod uses a name of ours for something else
 */
export function inject(
  pod: Pod,
  demand: Demand,
  choice: Choice,
  namespace: string,
  proof: ProofSettings,
): PodChange {
  const { metadata, spec } = pod;
  const at = injectedAt(pod);
  refuseTakenNames(pod, at);
  const annotations = annotationChanges(pod, demand, namespace);
  annotations.set.set(statusAnnotation, statusText(demand, choice));
  const volume = demand.checksJson === '' ? undefined : volumeFor(demand);
  const operations = [
    ...(demand.checksJson === ''
      ? removeOperations('initContainers', spec.initContainers, at)
      : proveOperations(pod, at, validatorFor(pod, demand, proof), demand, proof)),
    ...(volume === undefined ? dropVolume(pod) : volumeOperations(spec.volumes, volume)),
    ...mapOperations(['metadata', 'labels'], metadata.labels, new Map([[profileLabel, choice.profile]])),
    ...mapOperations(['metadata', 'annotations'], metadata.annotations, annotations.set),
  ];
  return { operations, warnings: annotations.warnings };
}

function proveOperations(
  pod: Pod,
  at: number,
  wanted: Container,
  demand: Demand,
  proof: ProofSettings,
): Operation[] {
  const { initContainers, imagePullSecrets } = pod.spec;
  const found = initContainers?.[at];
  const current = found !== undefined && isCurrent(found, wanted, demand, pod);
  const secrets = proof.imagePullSecrets
    .filter((name) => !imagePullSecrets?.some((secret) => secret.name === name))
    .map((name) => ({ name }));
  return [
    ...headOperations(initContainers, at, current, wanted),
    ...appendOperations('imagePullSecrets', imagePullSecrets, secrets),
  ];
}

/** What takes an earlier injection out of a pod that nothing is promised to any more. */
export function uninject(pod: Pod): PodChange {
  const { metadata, spec } = pod;
  if (!carriesInjection(pod)) return { operations: [], warnings: [] };
  const at = injectedAt(pod);
  const label = own(metadata.labels, profileLabel);
  const labelChange = label !== undefined && isOurs(pod, label) ? [profileLabel] : [];
  return {
    operations: [
      ...removeOperations('initContainers', spec.initContainers, at),
      ...dropVolume(pod),
      ...mapOperations(['metadata', 'labels'], metadata.labels, removal(labelChange)),
      ...mapOperations(['metadata', 'annotations'], metadata.annotations, removal([statusAnnotation])),
    ],
    warnings: [],
  };
}

const removal = (keys: string[]): Map<string, undefined> => new Map(keys.map((key) => [key, undefined]));

function dropVolume(pod: Pod): Operation[] {
  if (!carriesInjection(pod)) return [];
  const at = (pod.spec.volumes ?? []).findIndex((volume) => volume.name === podInfoVolume);
  return removeOperations('volumes', pod.spec.volumes, at);
}

function statusText(demand: Demand, choice: Choice): string {
  const status: Status = {
    version,
    profile: choice.profile,
    chosenBy: choice.chosenBy,
    profiles: demand.profiles.map((profile) => profile.name),
    checks: demand.words,
  };
  return JSON.stringify(status);
}

/** Names are unique in a pod: a second one of ours would be refused by the API server in words that help nobody. */
function refuseTakenNames(pod: Pod, at: number): void {
  const ours = pod.spec.initContainers?.[at];
  const other = allContainers(pod).find(
    (container) => container.name === validatorContainer && container !== ours,
  );
  if (other !== undefined) {
    throw new CniGateError(
      'CNI_GATE_NAME_TAKEN',
      `the pod has a container "${validatorContainer}" that cni-gate did not put there: give it another name`,
    );
  }
  const volumeTaken = (pod.spec.volumes ?? []).some((volume) => volume.name === podInfoVolume);
  if (volumeTaken && !carriesInjection(pod)) {
    throw new CniGateError(
      'CNI_GATE_NAME_TAKEN',
      `the pod has a volume "${podInfoVolume}" that cni-gate did not put there: give it another name`,
    );
  }
}
