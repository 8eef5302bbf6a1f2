import { createHash } from 'node:crypto';
import { type Event, fitNote, podReference } from '../../cluster/events/event.ts';
import type { PendingPod } from '../../core/facts/pending-pod.ts';
import { eventReasons } from '../../lib/names.ts';

const eventOn = (pod: PendingPod): Pick<Event, 'regarding' | 'type' | 'action'> => ({
  regarding: podReference(pod),
  type: 'Normal',
  action: 'Nominate',
});

/**
 * The event for a nomination.
 *
 * @param version the pod's with the nomination
 */
export const nominatedEvent = (pod: PendingPod, node: string, why: string, version: string): Event => ({
  ...eventOn(pod),
  reason: eventReasons.nominated,
  occasion: version,
  node,
  note: fitNote(`node ${node} is nominated, after node ${pod.refused} was refused: ${why}`),
});

/**
 * The event that says why no node is nominated for a pod. Another reason makes another event.
 *
 * @param why a sentence without an end
 */
export const notNominatedEvent = (pod: PendingPod, why: string): Event => ({
  ...eventOn(pod),
  reason: eventReasons.notNominated,
  occasion: createHash('sha256').update(why).digest('hex').slice(0, 16),
  ...(pod.refused !== undefined && { node: pod.refused }),
  note: fitNote(why),
});
