import type { Operation } from 'fast-json-patch';
import { profileLabel, statusAnnotation } from '../../lib/names.ts';
import { own } from '../../lib/own.ts';
import type { Pod } from '../pod.ts';
import { isMountedByOthers, isOurContainer, isOurVolume } from './current.ts';
import { mapOperations, removeOperations } from './patch.ts';
import { isOurs, type ProfileSelection } from './profile-selection.ts';
import { readStatus, reasonText, saysProfiles, statusText } from './status-annotation.ts';

/** The index of our init container in the pod, or -1. */
export function injectedAt(pod: Pod): number {
  return (pod.spec.initContainers ?? []).findIndex(isOurContainer);
}

/** Whether the pod has anything of an earlier injection, of this version or another, besides the mark of a review. */
export function carriesInjection(pod: Pod): boolean {
  return injectedAt(pod) >= 0 || saysProfiles(readStatus(pod));
}

/** Operations that remove an earlier injection. */
export function removeInjection(pod: Pod): Operation[] {
  return [...removalOperations(pod), ...statusOperations(pod, undefined)];
}

/**
 * Marks a pod as reviewed although no profile applies, and removes an earlier injection. Without the mark, the pod
 * would look like one that never reached the webhook.
 */
export function markReviewed(pod: Pod, selection: ProfileSelection): Operation[] {
  return [...removalOperations(pod), ...statusOperations(pod, statusText(selection))];
}

/** Removes an earlier injection from an exempt pod, and records the reason on the pod. */
export function markExempt(pod: Pod, reason: string): Operation[] {
  return [...removalOperations(pod), ...statusOperations(pod, reasonText(reason))];
}

/**
 * Records on a pod that is admitted with a warning why nothing is proved. The status and the injection of an earlier
 * call stay, because the later call may have failed temporarily.
 */
export function recordRefusal(pod: Pod, code: string): Operation[] {
  return own(pod.metadata.annotations, statusAnnotation) ? [] : statusOperations(pod, reasonText(code));
}

/** Removes container, volume and label of an earlier call. */
function removalOperations(pod: Pod): Operation[] {
  const { metadata, spec } = pod;
  const label = own(metadata.labels, profileLabel);
  return [
    ...(carriesInjection(pod)
      ? [...removeOperations('initContainers', spec.initContainers, injectedAt(pod)), ...dropVolume(pod)]
      : []),
    // with another status, or none, a later call would treat the label as the user's
    ...(label !== undefined && isOurs(pod, label)
      ? mapOperations(['metadata', 'labels'], metadata.labels, new Map([[profileLabel, undefined]]))
      : []),
  ];
}

const statusOperations = ({ metadata }: Pod, text: string | undefined): Operation[] =>
  mapOperations(['metadata', 'annotations'], metadata.annotations, new Map([[statusAnnotation, text]]));

/** Removes the volume of an earlier injection, unless somebody else added or needs it. */
export function dropVolume(pod: Pod): Operation[] {
  // every volume that could be ours has one name, so one pass over the containers is enough
  if (!carriesInjection(pod) || isMountedByOthers(pod)) return [];
  const at = (pod.spec.volumes ?? []).findIndex((volume) => isOurVolume(volume, false));
  return removeOperations('volumes', pod.spec.volumes, at);
}
