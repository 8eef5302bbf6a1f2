import type { Operation } from 'fast-json-patch';
import { CniGateError } from '../../lib/errors.ts';
import { podInfoVolume, profileLabel, statusAnnotation, validatorContainer } from '../../lib/names.ts';
import { allContainers, type Container, type Pod } from '../facts/pod.ts';
import { statusText } from '../facts/status-annotation.ts';
import type { ProofSettings } from '../profiles/types.ts';
import { annotationChanges } from './annotations.ts';
import { validatorFor, volumeFor } from './container.ts';
import { isCurrent, isOurVolume } from './current.ts';
import {
  appendOperations,
  headOperations,
  mapOperations,
  removeOperations,
  volumeOperations,
} from './patch.ts';
import type { ProfileSelection } from './profile-selection.ts';
import type { ProofRequirements } from './proof-requirements.ts';
import { carriesInjection, dropVolume, injectedAt } from './remove-injection.ts';

/** The change that lets a pod prove its network. */
export interface PodChange {
  operations: Operation[];
  warnings: string[];
  /** The proof cannot be made, because it could only refuse. */
  refuses: boolean;
}

/**
 * Returns the operations that inject the proof; none if the pod already has it.
 *
 * @throws CniGateError CNI_GATE_NAME_TAKEN if the pod uses a name of ours for something else
 */
export function inject(
  pod: Pod,
  requirements: ProofRequirements,
  selection: ProfileSelection,
  namespace: string,
  proof: ProofSettings,
): PodChange {
  const { metadata, spec } = pod;
  const at = injectedAt(pod);
  refuseTakenNames(pod, at);
  const annotations = annotationChanges(pod, requirements, namespace);
  const proved = canProve(requirements, proof);
  annotations.set.set(
    statusAnnotation,
    statusText(selection, requirements.profiles, proved ? requirements.words : [], proof.mode),
  );
  const volume = proved ? volumeFor(requirements) : undefined;
  const operations = [
    ...(proved
      ? proveOperations(pod, at, validatorFor(pod, requirements, proof), requirements, proof)
      : removeOperations('initContainers', spec.initContainers, at)),
    ...(volume === undefined ? dropVolume(pod) : volumeOperations(spec.volumes, volume)),
    ...mapOperations(['metadata', 'labels'], metadata.labels, new Map([[profileLabel, selection.profile]])),
    ...mapOperations(['metadata', 'annotations'], metadata.annotations, annotations.set),
  ];
  const refuses = !proved && requirements.container !== undefined;
  return { operations, refuses, warnings: [...(refuses ? [cannotWarn] : []), ...annotations.warnings] };
}

/**
 * Whether the pod gets the init container. A network's own validator fails its pod: it cannot report a failure and let
 * the pod start.
 */
export function canProve(requirements: ProofRequirements, proof: ProofSettings): boolean {
  return requirements.container === undefined ? requirements.checksJson !== '' : proof.mode === 'enforce';
}

const cannotWarn = 'not proved: proof.mode is warn, and proof.container of the profile can only refuse';

function proveOperations(
  pod: Pod,
  at: number,
  wanted: Container,
  requirements: ProofRequirements,
  proof: ProofSettings,
): Operation[] {
  const { initContainers, imagePullSecrets } = pod.spec;
  const found = initContainers?.[at];
  const current = found !== undefined && isCurrent(found, wanted, requirements, pod);
  const secrets = proof.imagePullSecrets
    .filter((name) => !imagePullSecrets?.some((secret) => secret?.name === name))
    .map((name) => ({ name }));
  return [
    ...headOperations(initContainers, at, current, wanted),
    ...appendOperations('imagePullSecrets', imagePullSecrets, secrets),
  ];
}

/** Names are unique in a pod: the API server would refuse a second one with a message that does not help. */
function refuseTakenNames(pod: Pod, at: number): void {
  const { initContainers, volumes } = pod.spec;
  const others = allContainers(pod).filter((container) => container !== initContainers?.[at]);
  const volume = volumes?.find(({ name }) => name === podInfoVolume);
  const taken = others.some(({ name }) => name === validatorContainer)
    ? `container "${validatorContainer}"`
    : volume && !(carriesInjection(pod) && isOurVolume(volume))
      ? `volume "${podInfoVolume}"`
      : undefined;
  if (taken === undefined) return;
  throw new CniGateError(
    'CNI_GATE_NAME_TAKEN',
    `the pod has a ${taken} that cni-gate did not add: rename it`,
  );
}
