import { type Event, fitNote, podReference } from '../../cluster/events/event.ts';
import { eventReasons } from '../../lib/names.ts';
import type { Controller } from '../../nodes/evidence/facts.ts';
import type { Recreation, SkippedPod, SkipReason } from './types.ts';

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

const look = 'look at what the proofs saw: "cni-gate status"';

/** Why a pod is left alone, and what to do, for people. */
const reasons: Partial<Record<SkipReason, string>> = {
  ended:
    'it has ended, so only its controller can replace it. A Job counts it as failed, unless its podFailurePolicy ignores exit code 95 (and 255, with which a loss of power ends a pod)',
  'static-pod':
    'it is a static pod, which only the kubelet can make again: move its manifest out of the folder of static pods on the node, and back',
  'no-controller': 'it has no controller that would recreate it: delete it and create it again',
  'unknown-controller':
    'its controller is of a kind that is not known to recreate it: delete it, or name the kind in repair.owners',
  'node-unreachable': 'its node does not report: look at the node',
  'node-not-ready':
    'its node is not ready for it, and no other node is: look at the DaemonSet of its network',
  'under-way':
    'it could not be deleted, or its deletion has not happened yet, and it is tried again: the log of the leader says more',
  'owner-pause': `pods of its controller that were recreated failed again, and the next one follows after a pause: ${look}, or delete the pod`,
  'node-to-prove': `another pod finds out first whether its node works: if that takes long, ${look}`,
  'owner-turn': `pods of its controller are recreated one after the other, or one first: if that takes long, ${look}`,
  budget:
    'as many pods are recreated as repair.perMinute, perNodePerMinute or perOwnerPerMinute allow, and it follows: wait, or delete the pod',
  breaker: `recreated pods of most controllers failed again, so repair has stopped for five minutes: ${look}`,
};

/** Whether the event is written at once: the reason lasts as long as the pod, or for many minutes. */
export const isReportedAtOnce = (reason: SkipReason): boolean =>
  ['ended', 'static-pod', 'no-controller', 'unknown-controller', 'breaker'].includes(reason);

/** These reasons to wait for a turn follow each other, and have one event. */
const turns: ReadonlySet<SkipReason> = new Set(['under-way', 'node-to-prove', 'owner-turn', 'budget']);

/** The event on a pod that is left alone; undefined for one that is being deleted. */
export function skippedPodEvent({ pod, reason, why }: SkippedPod): Event | undefined {
  const text = reasons[reason];
  if (text === undefined) return undefined;
  const more = why === '' ? '' : ` (${why})`;
  return {
    regarding: podReference(pod),
    type: 'Warning',
    reason: eventReasons.notRecreated,
    action: 'Leave',
    occasion: turns.has(reason) ? 'turn' : reason,
    node: pod.node,
    note: fitNote(
      `the proof of the network of pod ${pod.name} failed on node ${pod.node}, and the pod is not recreated: ${text}${more}`,
      reason === 'node-unreachable' || reason === 'node-not-ready'
        ? '. It is recreated when a node is ready'
        : '',
    ),
  };
}
