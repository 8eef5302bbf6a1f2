import { type Event, fitNote, podReference } from '../cluster/events/event.ts';
import { isLost, type PodEvidence } from '../core/facts/pod-evidence.ts';
import type { EvidenceChange } from '../core/networks/evidence.ts';
import { eventReasons, validatorContainer } from '../lib/names.ts';

/**
 * The event about a lost network. Its name contains the pod's first resource version that showed the loss, so each loss
 * has one event. A server that starts later sees only later versions, so it may write a second event.
 * @param pod a pod whose field `unready` is set
 */
export const lostEvent = (pod: PodEvidence): Event => ({
  ...eventOf(
    pod,
    `is lost: its readiness probe fails, so the pod gets no traffic from its Services. For the results of the rechecks: kubectl -n ${pod.namespace} logs ${pod.name} -c ${validatorContainer}`,
  ),
  type: 'Warning',
  reason: eventReasons.lost,
});

const recoveredEvent = (pod: PodEvidence): Event => ({
  ...eventOf(pod, 'works again: its readiness probe passes'),
  type: 'Normal',
  reason: eventReasons.recovered,
});

const eventOf = (pod: PodEvidence, note: string): Omit<Event, 'type' | 'reason'> => ({
  regarding: podReference(pod),
  action: 'Report',
  occasion: pod.unready?.shownBy ?? '',
  node: pod.node,
  note: fitNote(`the network of pod ${pod.name} on node ${pod.node} ${note}`),
});

/** The events about a pod whose network was lost and that is ready again; an empty list for any other change. */
export const recoveryEvents = ({ before, now: pod }: EvidenceChange, now: number): Event[] => {
  if (before === undefined || pod === undefined || !isLost(before, now)) return [];
  const isReady = pod.verdict === 'passed' && pod.unready === undefined && !pod.leaving && !pod.ended;
  return isReady ? [lostEvent(before), recoveredEvent(before)] : [];
};
