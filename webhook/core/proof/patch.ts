import { isDeepStrictEqual as same } from 'node:util';
import jsonpatch, { type Operation } from 'fast-json-patch';
import { CniGateError, messageOf } from '../../lib/errors.ts';
import { getOwn } from '../../lib/maps.ts';
import { podInfoVolume, profileLabel, statusAnnotation, validatorContainer } from '../../lib/names.ts';
import { allContainers, type Container, isOurContainer, type Pod, type Volume } from '../facts/pod.ts';
import { type EarlierCall, readStatus, reasonText, statusText } from '../facts/status-annotation.ts';
import type { ProofSettings } from '../profiles/types.ts';
import { injectionFor } from './container.ts';
import { isCurrent } from './current.ts';
import type { ProofPlan } from './plan.ts';
import type { Selection } from './selection.ts';

/** Returns the operations that make the pod match the plan. @throws CniGateError CNI_GATE_NAME_TAKEN */
export function patchFor(
  pod: Pod,
  earlier: EarlierCall,
  selection: Selection,
  plan: ProofPlan,
  proof: ProofSettings,
): Operation[] {
  refuseTakenNames(pod, earlier);
  const injection = injectionFor(plan, proof);
  const status = statusText(selection, selection.profiles, plan.checkNames, proof.mode);
  return [
    ...(injection === undefined
      ? removeOperations(pod, 'initContainers', earlier.container)
      : [
          ...headOperations(pod, earlier, injection.container, plan),
          ...replacedOperations(pod, earlier, plan),
          ...secretOperations(pod, proof),
        ]),
    ...(injection?.volume ? volumeOperations(pod, injection.volume) : dropVolume(pod, earlier)),
    ...mapOperations(pod, 'labels', new Map([[profileLabel, selection.profile]])),
    ...mapOperations(pod, 'annotations', new Map([...plan.annotations, [statusAnnotation, status]])),
  ];
}

/** Removes what an earlier call injected. Sets the status annotation, or removes it if no `status` is given. */
export function removalPatch(pod: Pod, earlier: EarlierCall, status?: string): Operation[] {
  return [
    ...removeOperations(pod, 'initContainers', earlier.container),
    ...dropVolume(pod, earlier),
    // without the status, the next call would take the copied label for the user's choice
    ...(earlier.copiedLabel ? mapOperations(pod, 'labels', new Map([[profileLabel, undefined]])) : []),
    ...statusOperations(pod, status),
  ];
}

/** Records why nothing is proved. An earlier call's status stays, because this failure may be temporary. */
export function refusalPatch(pod: Pod, code: string): Operation[] {
  const isReviewed =
    getOwn(pod.metadata.annotations, statusAnnotation) && readStatus(pod)?.left === undefined;
  return isReviewed ? [] : statusOperations(pod, reasonText(code));
}

/**
 * Applies a patch to the pod in place, before the patch is sent: if a sent patch does not apply, the API server fails
 * the request, whatever the webhook's failurePolicy is.
 * @throws CniGateError CNI_GATE_PATCH_FAILED
 */
export function applyOnce(pod: Pod, operations: Operation[]): void {
  try {
    jsonpatch.applyPatch(pod, operations, true, true);
  } catch (error) {
    const first = messageOf(error).split('\n')[0];
    const message = `the patch for this pod does not apply, so it was not sent: ${first}`;
    throw new CniGateError('CNI_GATE_PATCH_FAILED', message);
  }
}

const statusOperations = (pod: Pod, text: string | undefined): Operation[] =>
  mapOperations(pod, 'annotations', new Map([[statusAnnotation, text]]));

/** Refuses a pod that uses one of our names itself. The API server's own message would not explain the cause. */
function refuseTakenNames(pod: Pod, earlier: EarlierCall): void {
  const { initContainers, volumes } = pod.spec;
  const ours = initContainers?.[earlier.container];
  const isTaken = allContainers(pod).some(
    (container) => container !== ours && container.name === validatorContainer,
  );
  const volume = volumes?.findIndex(({ name }) => name === podInfoVolume) ?? -1;
  if (!isTaken && (volume < 0 || volume === earlier.volume)) return;
  const taken = isTaken ? `container "${validatorContainer}"` : `volume "${podInfoVolume}"`;
  throw new CniGateError(
    'CNI_GATE_NAME_TAKEN',
    `the pod has a ${taken} that cni-gate did not add: rename it`,
  );
}

function headOperations(
  pod: Pod,
  { container: at }: EarlierCall,
  wanted: Container,
  { ids }: ProofPlan,
): Operation[] {
  const list = pod.spec.initContainers;
  const path = ['spec', 'initContainers'];
  if (list === null || list === undefined) return [{ op: 'add', path: pointer(...path), value: [wanted] }];
  const head = pointer(...path, 0);
  const actual = list[at];
  if (actual === undefined) return [{ op: 'add', path: head, value: wanted }];
  const replace: Operation = { op: 'replace', path: pointer(...path, at), value: wanted };
  const move: Operation = { op: 'move', from: pointer(...path, at), path: head };
  return [...(isCurrent(actual, wanted, ids, pod) ? [] : [replace]), ...(at === 0 ? [] : [move])];
}

/** Removes the init containers that the proof replaces: the last one first, so that no removal shifts the others. */
function replacedOperations(
  { spec }: Pod,
  { container: at }: EarlierCall,
  { replaced }: ProofPlan,
): Operation[] {
  const removals = (spec.initContainers ?? []).flatMap(({ name }, index): Operation[] => {
    if (!replaced.includes(name)) return [];
    // by now, our init container is the first
    const moved = at < 0 || index < at ? index + 1 : index;
    return [{ op: 'remove', path: pointer('spec', 'initContainers', moved) }];
  });
  return removals.reverse();
}

function secretOperations(pod: Pod, proof: ProofSettings): Operation[] {
  const missing = proof.imagePullSecrets
    .filter((name) => !pod.spec.imagePullSecrets?.some((secret) => secret?.name === name))
    .map((name) => ({ name }));
  return appendOperations(pod, 'imagePullSecrets', missing);
}

function volumeOperations(pod: Pod, wanted: Volume): Operation[] {
  const list = pod.spec.volumes ?? [];
  const at = list.findIndex((volume) => volume.name === wanted.name);
  const actual = list[at];
  if (actual === undefined) return appendOperations(pod, 'volumes', [wanted]);
  return same(actual, wanted) ? [] : [{ op: 'replace', path: pointer('spec', 'volumes', at), value: wanted }];
}

/** Removes the volume of an earlier injection, unless another container mounts the volume. */
function dropVolume(pod: Pod, { volume }: EarlierCall): Operation[] {
  const isMounted = allContainers(pod).some(
    (container) =>
      !isOurContainer(container) && container.volumeMounts?.some((mount) => mount.name === podInfoVolume),
  );
  return isMounted ? [] : removeOperations(pod, 'volumes', volume);
}

/** Operations that update the labels or annotations; an undefined value removes the key. */
function mapOperations(
  { metadata }: Pod,
  field: 'labels' | 'annotations',
  changes: ReadonlyMap<string, string | undefined>,
): Operation[] {
  const path = ['metadata', field];
  const current = metadata[field];
  if (current === null || current === undefined) {
    const set = [...changes].filter(([, value]) => value !== undefined);
    return set.length === 0 ? [] : [{ op: 'add', path: pointer(...path), value: Object.fromEntries(set) }];
  }
  const operations: Operation[] = [];
  for (const [key, value] of changes) {
    const at = pointer(...path, key);
    if (!Object.hasOwn(current, key)) {
      if (value !== undefined) operations.push({ op: 'add', path: at, value });
    } else if (value === undefined) operations.push({ op: 'remove', path: at });
    else if (current[key] !== value) operations.push({ op: 'replace', path: at, value });
  }
  return operations;
}

type ListName = 'initContainers' | 'volumes' | 'imagePullSecrets';

function removeOperations({ spec }: Pod, name: ListName, at: number): Operation[] {
  if (at < 0) return [];
  const path = spec[name]?.length === 1 ? pointer('spec', name) : pointer('spec', name, at);
  return [{ op: 'remove', path }];
}

function appendOperations({ spec }: Pod, name: ListName, items: unknown[]): Operation[] {
  if (items.length === 0) return [];
  if (!spec[name]) return [{ op: 'add', path: pointer('spec', name), value: items }];
  return items.map((value) => ({ op: 'add', path: pointer('spec', name, '-'), value }));
}

const pointer = (...parts: (string | number)[]): string =>
  parts.map((part) => `/${jsonpatch.escapePathComponent(String(part))}`).join('');
