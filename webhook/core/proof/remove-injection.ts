import type { Operation } from 'fast-json-patch';
import { own } from '../../lib/maps.ts';
import { podInfoVolume, profileLabel, statusAnnotation } from '../../lib/names.ts';
import { allContainers, type Pod } from '../facts/pod.ts';
import { reasonText, reportedProfiles } from '../facts/status-annotation.ts';
import { isOurContainer, isOurVolume } from './current.ts';
import { mapOperations, removeOperations } from './patch.ts';
import { isOurs } from './profile-selection.ts';

/** The index of our init container in the pod, or -1. */
export function injectedAt(pod: Pod): number {
  return (pod.spec.initContainers ?? []).findIndex(isOurContainer);
}

/** Whether the pod has anything of an earlier injection, of this version or another, besides the mark of a review. */
export function carriesInjection(pod: Pod): boolean {
  return injectedAt(pod) >= 0 || reportedProfiles(pod).length > 0;
}

/**
 * Removes an earlier injection, and writes a status instead: without one, a pod to which no profile applies would look
 * like one that never reached the webhook.
 *
 * @param status none by default
 */
export function removeInjection(pod: Pod, status?: string): Operation[] {
  const { metadata, spec } = pod;
  const label = own(metadata.labels, profileLabel);
  return [
    ...removeOperations('initContainers', spec.initContainers, injectedAt(pod)),
    ...dropVolume(pod),
    // with another status, or none, a later call would treat the label as the user's
    ...(label !== undefined && isOurs(pod, label)
      ? mapOperations(['metadata', 'labels'], metadata.labels, new Map([[profileLabel, undefined]]))
      : []),
    ...statusOperations(pod, status),
  ];
}

/**
 * Records on a pod that is admitted with a warning why nothing is proved. The status and the injection of an earlier
 * call stay, because the later call may have failed temporarily.
 */
export function recordRefusal(pod: Pod, code: string): Operation[] {
  return own(pod.metadata.annotations, statusAnnotation) ? [] : statusOperations(pod, reasonText(code));
}

const statusOperations = ({ metadata }: Pod, text: string | undefined): Operation[] =>
  mapOperations(['metadata', 'annotations'], metadata.annotations, new Map([[statusAnnotation, text]]));

/** Removes the volume of an earlier injection, unless another container mounts it. */
export function dropVolume(pod: Pod): Operation[] {
  const at = carriesInjection(pod) ? (pod.spec.volumes ?? []).findIndex(isOurVolume) : -1;
  const isMounted = allContainers(pod).some(
    (container) =>
      !isOurContainer(container) && container.volumeMounts?.some((mount) => mount.name === podInfoVolume),
  );
  return isMounted ? [] : removeOperations('volumes', pod.spec.volumes, at);
}
