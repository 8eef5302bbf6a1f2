import { holdBegan } from '../../admission/gate/gate-pod.ts';
import { type Blocker, notReadyText } from '../../admission/gate/refusal.ts';
import { type Event, fitNote, podReference } from '../../cluster/events/event.ts';
import type { Policy } from '../../config/policy.ts';
import { eventReasons } from '../../lib/names.ts';
import { timeText } from '../../lib/time-text.ts';
import type { Gate } from '../filters.ts';
import type { PendingPod } from './pending-pod.ts';

/** The age at which a hold is a long one, in milliseconds: a node that boots is ready sooner. */
const long = 120_000;

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
  const after = Math.min(long, limits.maxHold);
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
