import { hasEvent, isReportedAtOnce, waitsForTurn } from './events.ts';
import type { SkippedPod, SkipReason } from './types.ts';

/**
 * A pod has to be left alone for this time before an event says so, in milliseconds. A node that boots is mostly ready
 * sooner. The event follows within a minute, also where all pods of a full node wait.
 */
const long = 45_000;

/** No event is about a pod that ended longer ago, in milliseconds: pods of finished Jobs stay for days, and leaders change. */
const recent = 600_000;

interface Known {
  /** When it was first left alone, whatever the reason was. */
  since: number;
  reason: SkipReason;
  /** The reasons of its events. Reasons to wait for a turn follow each other, and are one here. */
  reported: Set<SkipReason | 'turn'>;
}

/** The failed pods that are left alone, and which of them have an event. Pure: times are arguments. */
export class SkippedPods {
  /** By UID. */
  readonly #known = new Map<string, Known>();

  /** How many pods are left alone for each reason. */
  get counts(): Map<SkipReason, number> {
    const counts = new Map<SkipReason, number>();
    for (const { reason } of this.#known.values()) counts.set(reason, (counts.get(reason) ?? 0) + 1);
    return counts;
  }

  /**
   * A pod is left alone.
   *
   * @param now milliseconds
   * @param wall the time of day, milliseconds since the epoch
   * @returns whether an event is due. It counts as written only with {@link reported}
   */
  add({ pod, reason }: SkippedPod, now: number, wall: number): boolean {
    const known = this.#known.get(pod.uid) ?? { since: now, reason, reported: new Set() };
    known.reason = reason;
    this.#known.set(pod.uid, known);
    if (!hasEvent(reason) || known.reported.has(kindOf(reason))) return false;
    if (pod.ended && wall - (pod.at ?? pod.createdAt) > recent) return false;
    return isReportedAtOnce(reason) || now - known.since >= long;
  }

  /** The event about a pod is written. */
  reported({ pod, reason }: SkippedPod): void {
    this.#known.get(pod.uid)?.reported.add(kindOf(reason));
  }

  /** The pod is gone, is no longer failed, or is recreated. */
  forget(uid: string): void {
    this.#known.delete(uid);
  }
}

const kindOf = (reason: SkipReason): SkipReason | 'turn' => (waitsForTurn(reason) ? 'turn' : reason);
