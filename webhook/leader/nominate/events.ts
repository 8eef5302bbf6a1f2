import { createHash } from 'node:crypto';
import { type Event, fitNote, podReference } from '../../cluster/events/event.ts';
import { eventReasons } from '../../lib/names.ts';
import type { PendingPod } from './pending-pod.ts';

/**
 * The event for a nomination.
 *
 * @param version the pod's with the nomination
 */
export function nominatedEvent(pod: PendingPod, node: string, why: string, version: string): Event {
  return {
    regarding: podReference(pod),
    type: 'Normal',
    reason: eventReasons.nominated,
    action: 'Nominate',
    occasion: version,
    node,
    note: fitNote(`node ${node} is nominated, after node ${pod.refused} was refused: ${why}`),
  };
}

/**
 * The event that says why no node is nominated for a pod. Another reason makes another event.
 *
 * @param why a sentence without an end
 */
export function notNominatedEvent(pod: PendingPod, why: string): Event {
  const occasion = createHash('sha256').update(why).digest('hex').slice(0, 16);
  return {
    regarding: podReference(pod),
    type: 'Normal',
    reason: eventReasons.notNominated,
    action: 'Nominate',
    occasion,
    ...(pod.refused !== undefined && { node: pod.refused }),
    note: fitNote(why),
  };
}
