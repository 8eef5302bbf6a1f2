import { type Event, fitNote, podReference } from '../../cluster/events/event.ts';
import type { Policy } from '../../config/policy.ts';
import { eventReasons } from '../../lib/names.ts';
import { timeText } from '../../lib/time-text.ts';
import type { PodEvidence } from '../../nodes/evidence/facts.ts';
import type { Readiness } from '../../nodes/readiness/readiness.ts';

/** How long a pod may wait for its sandbox, in milliseconds. Multus alone waits up to 45 s for its configuration. */
export const long = 60_000;

/** What is known of the cluster. */
export interface WaitView {
  policy: Pick<Policy, 'profiles' | 'gate'>;
  readiness: Pick<Readiness, 'status'>;
}

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
export function longWait(pod: PodEvidence, { policy, readiness }: WaitView, now: number): Event | undefined {
  if (!lacksSandbox(pod, now)) return undefined;
  const { node, profiles } = pod;
  const since = sinceOf(pod);
  const named = profiles.flatMap((profile) => policy.profiles.get(profile)?.daemonSets ?? []);
  const unique = new Map(named.map((one) => [`${one.namespace}/${one.name}`, one]));
  const places = Array.from(unique.values(), (daemonSet) => {
    const status = readiness.status(daemonSet, node, now, policy.gate.startupGrace);
    const { namespace, name } = daemonSet;
    if (status === undefined) return `DaemonSet ${namespace}/${name} (not known)`;
    const where = status.pod === undefined ? '' : `, pod ${status.pod}`;
    return `DaemonSet ${namespace}/${name} (${status.state}${where})`;
  });
  const look = places.length === 0 ? '' : ` Look at the log of ${places.join(' and ')}.`;
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
