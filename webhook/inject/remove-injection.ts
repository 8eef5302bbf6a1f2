import type { Operation } from 'fast-json-patch';
import type { Pod } from '../admission/pod.ts';
import { profileLabel, statusAnnotation } from '../lib/names.ts';
import { own } from '../lib/own.ts';
import { isMountedByOthers, isOurContainer, isOurVolume } from './current.ts';
import { mapOperations, removeOperations } from './patch.ts';
import { isOurs, type ProfileSelection } from './profile-selection.ts';
import { readStatus, reasonText, saysProfiles, statusText } from './status-annotation.ts';

/** Where our init container stands in the pod, or -1. */
export function injectedAt(pod: Pod): number {
  return (pod.spec.initContainers ?? []).findIndex(isOurContainer);
}

/** Whether an earlier call, of this version or another, left anything in the pod but the word that it looked. */
export function carriesInjection(pod: Pod): boolean {
  return injectedAt(pod) >= 0 || saysProfiles(readStatus(pod));
}

/** What takes an earlier injection out of a pod that must have none. */
export function removeInjection(pod: Pod): Operation[] {
  return [...removalOperations(pod), ...statusOperations(pod, undefined)];
}

/**
 * What tells on a pod that it was looked at and that nothing is promised to it; an earlier injection goes. Without
 * that word nobody who sees the pod later could tell it from one that never came by here.
 */
export function markReviewed(pod: Pod, selection: ProfileSelection): Operation[] {
  return [...removalOperations(pod), ...statusOperations(pod, statusText(selection))];
}

/** Takes an earlier injection out of a pod that is left alone, and records why on the pod. */
export function markExempt(pod: Pod, reason: string): Operation[] {
  return [...removalOperations(pod), ...statusOperations(pod, reasonText(reason))];
}

/**
 * Records on a pod that is admitted with a warning why nothing is proved. The status of an earlier call stays, as the
 * injection does that it tells of: a later call may have failed for a moment only.
 */
export function recordRefusal(pod: Pod, code: string): Operation[] {
  return own(pod.metadata.annotations, statusAnnotation) ? [] : statusOperations(pod, reasonText(code));
}

/** Container, volume and label of an earlier call. */
function removalOperations(pod: Pod): Operation[] {
  const { metadata, spec } = pod;
  const label = own(metadata.labels, profileLabel);
  return [
    ...(carriesInjection(pod)
      ? [...removeOperations('initContainers', spec.initContainers, injectedAt(pod)), ...dropVolume(pod)]
      : []),
    // with another status, or none, it would look like the user's from now on
    ...(label !== undefined && isOurs(pod, label)
      ? mapOperations(['metadata', 'labels'], metadata.labels, new Map([[profileLabel, undefined]]))
      : []),
  ];
}

const statusOperations = ({ metadata }: Pod, text: string | undefined): Operation[] =>
  mapOperations(['metadata', 'annotations'], metadata.annotations, new Map([[statusAnnotation, text]]));

/** Takes the volume of an earlier injection out; one that somebody else put there or needs stays. */
export function dropVolume(pod: Pod): Operation[] {
  // every volume that could be ours has one name, so the containers are looked through once
  if (!carriesInjection(pod) || isMountedByOthers(pod)) return [];
  const at = (pod.spec.volumes ?? []).findIndex((volume) => isOurVolume(volume, false));
  return removeOperations('volumes', pod.spec.volumes, at);
}
