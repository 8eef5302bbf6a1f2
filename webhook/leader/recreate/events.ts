import { type Event, fitNote, podReference } from '../../cluster/events/event.ts';
import { eventReasons } from '../../lib/names.ts';
import type { Controller } from '../../nodes/evidence/facts.ts';
import { type Recreation, type SkippedPod, type SkipReason, skipTexts } from './types.ts';

/** Whether pods are recreated, or only would be: `repair.mode`. */
export type RepairAction = 'recreated' | 'wouldRecreate';

const texts = {
  recreated: { action: 'Recreate', what: 'is deleted to be recreated' },
  wouldRecreate: {
    action: 'Audit',
    what: 'would be deleted to be recreated, but repair only reports (repair.mode is audit, or proof.mode warn)',
  },
} as const;

/** The event of a recreation on its pod. */
export const podEvent = ({ pod, why }: Recreation, action: RepairAction): Event => ({
  regarding: podReference(pod),
  type: 'Normal',
  reason: eventReasons[action],
  action: texts[action].action,
  occasion: action.toLowerCase(),
  node: pod.node,
  note: fitNote(
    `the proof of the network of pod ${pod.name} on node ${pod.node} failed, so it ${texts[action].what}: ${why}`,
  ),
});

/** The same event on the workload that the pod belongs to: one a minute, about one of its pods. */
export const onWorkload = (
  { apiVersion, kind, name, uid }: Controller,
  event: Event,
  now: number,
): Event => ({
  ...event,
  regarding: { apiVersion, kind, namespace: event.regarding.namespace, name, uid },
  occasion: `${event.occasion}.${Math.floor(now / 60_000)}`,
});

/** Whether the event is written at once: the reason lasts as long as the pod, or for many minutes. */
export const isReportedAtOnce = (reason: SkipReason): boolean =>
  ['ended', 'static-pod', 'no-controller', 'unknown-controller', 'breaker'].includes(reason);

/** These reasons to wait for a turn follow each other, and have one event. */
const turns: ReadonlySet<SkipReason> = new Set(['under-way', 'node-to-prove', 'owner-turn', 'budget']);

/** The event on a pod that is left alone; undefined for one that is being deleted. */
export function skippedPodEvent({ pod, reason, why }: SkippedPod): Event | undefined {
  if (reason === 'leaving') return undefined;
  const more = why === '' ? '' : ` (${why})`;
  return {
    regarding: podReference(pod),
    type: 'Warning',
    reason: eventReasons.notRecreated,
    action: 'Leave',
    occasion: turns.has(reason) ? 'turn' : reason,
    node: pod.node,
    note: fitNote(
      `the proof of the network of pod ${pod.name} failed on node ${pod.node}, and the pod is not recreated: ${skipTexts[reason]}${more}`,
      reason === 'node-unreachable' || reason === 'node-not-ready'
        ? '. It is recreated when a node is ready'
        : '',
    ),
  };
}
