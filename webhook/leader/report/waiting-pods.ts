import { createHash } from 'node:crypto';
import { type Event, fitNote, podReference } from '../../cluster/events/event.ts';
import type { Policy } from '../../config/policy.ts';
import { eventReasons } from '../../lib/names.ts';
import { timeText } from '../../lib/time-text.ts';
import type { PodEvidence } from '../../nodes/evidence/facts.ts';
import type { PendingPod } from '../nominate/pending-pod.ts';

/** How long a pod may wait for its sandbox, in milliseconds. Multus alone waits up to 45 s for its configuration. */
const long = 60_000;

/**
 * Whether a pod has waited for its sandbox for long: mostly for an address. Nothing of it runs, so nothing failed.
 *
 * @param now milliseconds since the epoch
 */
export const lacksSandbox = (pod: PodEvidence, now: number): boolean =>
  pod.verdict === 'waiting' &&
  pod.hasSandbox === false &&
  !pod.ended &&
  !pod.leaving &&
  now - sinceOf(pod) >= long;

const sinceOf = ({ at, createdAt }: PodEvidence): number => at ?? createdAt;

/**
 * The event that a pod has had no sandbox for long, and who can give it its network; undefined for other pods. It is the
 * same event for as long as the pod waits.
 *
 * @param now milliseconds since the epoch
 */
export function longWait(pod: PodEvidence, policy: Pick<Policy, 'profiles'>, now: number): Event | undefined {
  if (!lacksSandbox(pod, now)) return undefined;
  const { node, profiles } = pod;
  const since = sinceOf(pod);
  const named = profiles.flatMap((profile) => policy.profiles.get(profile)?.daemonSets ?? []);
  const places = new Set(named.map(({ namespace, name }) => `DaemonSet ${namespace}/${name}`));
  const look = places.size === 0 ? '' : ` Look at the log there of ${[...places].join(' and ')}.`;
  return {
    regarding: podReference(pod),
    type: 'Warning',
    reason: eventReasons.waitingForSandbox,
    action: 'Wait',
    // from the cluster, so that the next leader uses the same name
    occasion: String(since),
    node,
    note: fitNote(
      `no sandbox on node ${node} since ${timeText(since)}: the network has no address for the pod or is not ready, or a volume cannot be mounted. The event FailedCreatePodSandBox or FailedMount of the kubelet says which.${look}`,
      ' The kubelet tries again; recreating the pod does not help',
    ),
  };
}

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
