import type { Policy } from '../config/policy.ts';
import { aboutPod, fitNote, type Notice } from '../events/notice.ts';
import type { EvidenceView } from '../evidence/evidence.ts';
import { holdBegan } from '../gate/hold.ts';
import { type Blocker, refusalText } from '../gate/refusal.ts';
import { eventReasons } from '../lib/names.ts';
import { timeText } from '../lib/time-text.ts';
import type { Readiness } from '../readiness/readiness.ts';
import { blockersBy } from './accepts.ts';
import type { PendingPod } from './pending-pod.ts';

/** The age at which a hold is a long one, in milliseconds: a node that boots is ready sooner. */
const long = 120_000;

/** The pause after an event that could not be written, in milliseconds. */
const pause = 60_000;

/** What is known of the cluster. */
export interface HoldView {
  policy: Policy;
  readiness: Readiness;
  evidence?: EvidenceView;
  /** Why pods are not steered, for people; undefined where they are. */
  unsteered: string | undefined;
}

/**
 * Which long holds need an event: each one once, when it is two minutes old, or `gate.maxHold` where that is less. There
 * is one event for as long as the pod waits, even if other nodes refuse it meanwhile: its `PodScheduled` condition names
 * the last one. Pure: times are arguments, in milliseconds since the epoch.
 */
export class LongHolds {
  /** By UID of waiting pods: since when they wait, and when the event may be written again. */
  readonly #reported = new Map<string, { heldSince: number; again: number }>();

  /**
   * The notices to write now. They count as written unless {@link failed} is called.
   *
   * @param max the largest number of notices
   */
  due(pending: Iterable<PendingPod>, view: HoldView, now: number, max: number): Notice[] {
    const { policy, readiness, evidence } = view;
    const { mode, maxHold } = policy.gate;
    const blocker = blockersBy(policy, readiness, now, evidence);
    const after = Math.min(long, maxHold);
    const left = new Set(this.#reported.keys());
    const due: Notice[] = [];
    for (const pod of pending) {
      const { uid, heldSince, refused, leaving, profiles } = pod;
      left.delete(uid);
      // nothing is held with audit: the condition is from before
      if (mode === 'audit' || heldSince === undefined || refused === undefined || leaving) continue;
      // false for a time that cannot be read
      const isLong = (since: number): boolean => now - since >= after;
      if (due.length >= max || !isLong(heldSince) || this.#isReported(uid, heldSince, now)) continue;
      const found = blocker(profiles, refused);
      if (found === undefined || !isLong(holdBegan(heldSince, found.status, now))) continue;
      this.#reported.set(uid, { heldSince, again: Number.POSITIVE_INFINITY });
      due.push(longHoldNotice(pod, heldSince, found, view, now));
    }
    for (const uid of left) this.#reported.delete(uid);
    return due;
  }

  /** A notice could not be written. */
  failed({ regarding: { uid } }: Notice, now: number): void {
    const reported = this.#reported.get(uid);
    if (reported !== undefined) reported.again = now + pause;
  }

  #isReported(uid: string, heldSince: number, now: number): boolean {
    const reported = this.#reported.get(uid);
    return reported !== undefined && reported.heldSince === heldSince && now < reported.again;
  }
}

function longHoldNotice(
  pod: PendingPod,
  heldSince: number,
  blocker: Blocker,
  view: HoldView,
  now: number,
): Notice {
  const { daemonSet, status } = blocker;
  const until = timeText(holdBegan(heldSince, status, now) + view.policy.gate.maxHold);
  const what =
    daemonSet === undefined
      ? `node ${blocker.node}`
      : status.pod === undefined
        ? `daemonset -n ${daemonSet.namespace} ${daemonSet.name}`
        : `pod -n ${daemonSet.namespace} ${status.pod}`;
  const unsteered = view.unsteered === undefined ? '' : ` No other node is nominated: ${view.unsteered}.`;
  return {
    regarding: aboutPod(pod),
    type: 'Warning',
    reason: eventReasons.heldForLong,
    action: 'Hold',
    // from the cluster, so that the next leader uses the same name
    occasion: String(heldSince),
    node: blocker.node,
    note: fitNote(
      `waiting since ${timeText(heldSince)}: ${refusalText(blocker)}`,
      `. The pod is bound when that is ready, or after ${until} by gate.maxHold.${unsteered} Look at "kubectl describe ${what}" and "cni-gate status"`,
    ),
  };
}
