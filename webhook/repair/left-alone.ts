import { isTold, isToldAtOnce, isTurn } from './notices.ts';
import type { LeftAlone, LeftAloneReason } from './types.ts';

/** A pod has to be left alone for this time before an event tells of it, in milliseconds: a node that boots is ready sooner. */
const long = 60_000;

/** The same for a pod that waits for its turn: it is longer than the budgets take for a full node. */
const longTurn = 900_000;

/** A pod that ended is told of for this time, in milliseconds: pods of finished Jobs stay for days, and leaders change. */
const recent = 600_000;

interface Known {
  reason: LeftAloneReason;
  since: number;
  told: boolean;
}

/** The failed pods that are left alone, and which of them an event has told of. Pure: times are arguments. */
export class LeftAlonePods {
  /** By UID. */
  #known = new Map<string, Known>();
  #counts = new Map<LeftAloneReason, number>();

  /** How many pods are left alone for each reason, as of the last {@link update}. */
  get counts(): ReadonlyMap<LeftAloneReason, number> {
    return this.#counts;
  }

  /**
   * @param left all pods that are left alone now
   * @param now milliseconds
   * @param max the largest number of results
   * @param wall the time of day, milliseconds since the epoch
   * @returns the pods of which an event has to tell now
   */
  update(left: readonly LeftAlone[], now: number, max: number, wall: number): LeftAlone[] {
    const known = new Map<string, Known>();
    this.#counts = new Map();
    const due: LeftAlone[] = [];
    for (const one of left) {
      const { reason, pod } = one;
      this.#counts.set(reason, (this.#counts.get(reason) ?? 0) + 1);
      const before = this.#known.get(pod.uid);
      const goesOn =
        before !== undefined && (before.reason === reason || (isTurn(before.reason) && isTurn(reason)));
      const is = goesOn ? Object.assign(before, { reason }) : { reason, since: now, told: false };
      known.set(pod.uid, is);
      if (is.told || !isTold(reason) || due.length >= max) continue;
      if (pod.ended && wall - (pod.at ?? pod.createdAt) > recent) continue;
      if (!isToldAtOnce(reason) && now - is.since < (isTurn(reason) ? longTurn : long)) continue;
      is.told = true;
      due.push(one);
    }
    this.#known = known;
    return due;
  }
}
