import type { Policy } from '../config/policy.ts';
import { holdBegan } from '../gate/hold.ts';
import { type Blocker, refusalText } from '../gate/refusal.ts';
import { eventReasons } from '../lib/names.ts';
import { timeText } from '../lib/time-text.ts';
import type { Readiness } from '../readiness/readiness.ts';
import { blockersBy } from './accepts.ts';
import { fitNote, type Notice } from './notice.ts';
import type { PendingPod } from './pending-pod.ts';

/** From when on a hold is told of on its pod, in milliseconds: a node that boots is ready sooner. */
const long = 120_000;

/** How long after one that could not be told it is tried again, in milliseconds. */
const pause = 60_000;

/** What is known of the cluster. */
export interface HoldView {
  policy: Policy;
  readiness: Readiness;
  /** Why pods are not sent elsewhere, for people; undefined where they are. */
  unsteered: string | undefined;
}

/**
 * Which holds are to be told of: each once, when it is two minutes old, or `gate.maxHold` where that is less. A pod is
 * told of once for as long as it waits, whatever nodes it is refused for meanwhile: its `PodScheduled` condition names
 * the last one. Pure: times are handed in, in milliseconds since the epoch.
 */
export class LongHolds {
  /** By UID of pods that wait: since when, and when it may be told again. */
  readonly #reported = new Map<string, { heldSince: number; again: number }>();

  /**
   * What is to be told now. It counts as told unless {@link failed} says otherwise.
   *
   * @param max how many at most
   */
  due(pending: Iterable<PendingPod>, view: HoldView, now: number, max: number): Notice[] {
    const { policy, readiness } = view;
    const { mode, maxHold } = policy.gate;
    const blocker = blockersBy(policy, readiness, now);
    const after = Math.min(long, maxHold);
    const left = new Set(this.#reported.keys());
    const due: Notice[] = [];
    for (const pod of pending) {
      const { uid, heldSince, refused, leaving, profiles } = pod;
      left.delete(uid);
      // who audits holds nobody: what stands on the pod is from before
      if (mode === 'audit' || heldSince === undefined || refused === undefined || leaving) continue;
      // a time that cannot be read is none
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

  /** One could not be told. */
  failed({ pod: { uid } }: Notice, now: number): void {
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
  const where =
    status.pod === undefined
      ? `daemonset -n ${daemonSet.namespace} ${daemonSet.name}`
      : `pod -n ${daemonSet.namespace} ${status.pod}`;
  const unsteered = view.unsteered === undefined ? '' : ` No other node is named for it: ${view.unsteered}.`;
  return {
    pod,
    type: 'Warning',
    reason: eventReasons.heldForLong,
    action: 'Hold',
    // what stands in the cluster, so that the next leader tells the same by the same name
    occasion: String(heldSince),
    node: blocker.node,
    note: fitNote(
      `waits since ${timeText(heldSince)}: ${refusalText(blocker)}`,
      `. It is bound when that is ready, or let through by gate.maxHold, if that stays so, after ${until}.${unsteered} Look at "kubectl describe ${where}" and "cni-gate status"`,
    ),
  };
}
