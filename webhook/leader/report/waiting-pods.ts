import { createHash } from 'node:crypto';
import { holdBegan } from '../../admission/gate/gate-pod.ts';
import { type Blocker, notReadyText } from '../../admission/gate/refusal.ts';
import { type Event, fitNote, podReference } from '../../cluster/events/event.ts';
import type { Policy } from '../../config/policy.ts';
import { eventReasons } from '../../lib/names.ts';
import { timeText } from '../../lib/time-text.ts';
import type { PodEvidence } from '../../nodes/evidence/facts.ts';
import type { Readiness } from '../../nodes/readiness/readiness.ts';
import type { Gate } from '../filters.ts';
import type { PendingPod } from '../nominate/pending-pod.ts';

/** How long a pod may wait for its sandbox, in milliseconds. Multus alone waits up to 45 s for its configuration. */
const long = 60_000;

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

/** The age at which a hold is a long one, in milliseconds: a node that boots is ready sooner. */
const longHeld = 120_000;

/** What is known of the cluster. */
export interface HoldView {
  limits: Policy['gate'];
  gate: Gate;
  /** Why pods are not steered, for people; undefined where they are. */
  unsteered: string | undefined;
}

/**
 * The event about a long hold, once it is two minutes old, or `gate.maxHold` if that is less; undefined for other pods.
 * It is the same event for as long as the pod waits, even if other nodes refuse it meanwhile: its `PodScheduled`
 * condition names the last one.
 *
 * @param now milliseconds since the epoch
 */
export function longHold(pod: PendingPod, view: HoldView, now: number): Event | undefined {
  const { limits, gate } = view;
  const { heldSince, refused, leaving, profiles } = pod;
  // nothing is held with audit: the condition is from before
  if (limits.mode === 'audit' || heldSince === undefined || refused === undefined || leaving)
    return undefined;
  const after = Math.min(longHeld, limits.maxHold);
  // false for a time that cannot be read
  const isLong = (since: number): boolean => now - since >= after;
  if (!isLong(heldSince)) return undefined;
  const { blocker } = gate(profiles, refused);
  if (blocker === undefined) return undefined;
  const began = holdBegan(heldSince, blocker.status, now);
  return isLong(began) ? longHoldEvent(pod, heldSince, blocker, began + limits.maxHold, view) : undefined;
}

function longHoldEvent(
  pod: PendingPod,
  heldSince: number,
  blocker: Blocker,
  until: number,
  view: HoldView,
): Event {
  const { daemonSet, status } = blocker;
  const what =
    daemonSet === undefined
      ? `node ${blocker.node}`
      : status.pod === undefined
        ? `daemonset -n ${daemonSet.namespace} ${daemonSet.name}`
        : `pod -n ${daemonSet.namespace} ${status.pod}`;
  const unsteered = view.unsteered === undefined ? '' : ` No other node is nominated: ${view.unsteered}.`;
  return {
    regarding: podReference(pod),
    type: 'Warning',
    reason: eventReasons.heldForLong,
    action: 'Hold',
    // from the cluster, so that the next leader uses the same name
    occasion: String(heldSince),
    node: blocker.node,
    note: fitNote(
      `waiting since ${timeText(heldSince)}: ${notReadyText(blocker)}`,
      `. The pod is bound when that is ready, or after ${timeText(until)} by gate.maxHold.${unsteered} Look at "kubectl describe ${what}" and "cni-gate status"`,
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
