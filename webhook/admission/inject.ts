import type { Operation } from 'fast-json-patch';
import type { ProofSettings } from '../config/types.ts';
import { CniGateError } from '../errors.ts';
import { podInfoVolume, profileLabel, statusAnnotation, validatorContainer } from '../names.ts';
import { annotationChanges } from './annotations.ts';
import type { Choice } from './choice.ts';
import { validatorFor, volumeFor } from './container.ts';
import { isCurrent, isMountedByOthers, isOurVolume } from './current.ts';
import type { Demand } from './demand.ts';
import {
  appendOperations,
  headOperations,
  mapOperations,
  removeOperations,
  volumeOperations,
} from './patch.ts';
import { allContainers, type Container, type Pod } from './pod.ts';
import { statusText } from './status.ts';
import { carriesInjection, dropVolume, injectedAt } from './withdraw.ts';

export interface PodChange {
  operations: Operation[];
  warnings: string[];
  /** Nothing proves what the pod is promised, because only a refusal could. */
  unproved: boolean;
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
  const proved = canProve(demand, proof);
  annotations.set.set(statusAnnotation, statusText(choice, demand.profiles, proved ? demand.words : []));
  const volume = proved ? volumeFor(demand) : undefined;
  const operations = [
    ...(proved
      ? proveOperations(pod, at, validatorFor(pod, demand, proof), demand, proof)
      : removeOperations('initContainers', spec.initContainers, at)),
    ...(volume === undefined ? dropVolume(pod) : volumeOperations(spec.volumes, volume)),
    ...mapOperations(['metadata', 'labels'], metadata.labels, new Map([[profileLabel, choice.profile]])),
    ...mapOperations(['metadata', 'annotations'], metadata.annotations, annotations.set),
  ];
  const unproved = !proved && demand.container !== undefined;
  return { operations, unproved, warnings: [...(unproved ? [cannotWarn] : []), ...annotations.warnings] };
}

/** A network's own validator fails its pod: it has no word for "tell, and let the pod start". */
function canProve(demand: Demand, proof: ProofSettings): boolean {
  return demand.container === undefined ? demand.checksJson !== '' : proof.mode === 'enforce';
}

const cannotWarn = 'not proved: proof.mode is warn, and proof.container of the profile can only refuse';

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
  const volume = (pod.spec.volumes ?? []).find(({ name }) => name === podInfoVolume);
  if (volume !== undefined && !(carriesInjection(pod) && isOurVolume(volume, isMountedByOthers(pod)))) {
    throw new CniGateError(
      'CNI_GATE_NAME_TAKEN',
      `the pod has a volume "${podInfoVolume}" that cni-gate did not put there: give it another name`,
    );
  }
}
