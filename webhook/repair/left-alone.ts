import { isTold, isToldAtOnce, isTurn } from './notices.ts';
import type { LeftAlone, LeftAloneReason } from './types.ts';

/**
 * A pod has to be left alone for this time before an event tells of it, in milliseconds. A node that boots is mostly ready
 * sooner. The event follows within a minute, also where all pods of a full node wait.
 */
const long = 45_000;

/** A pod that ended is told of for this time, in milliseconds: pods of finished Jobs stay for days, and leaders change. */
const recent = 600_000;

interface Known {
  /** When it was first left alone, whatever the reason was. */
  since: number;
  /** What events have told. Reasons to wait for a turn follow each other, and are one here. */
  told: Set<LeftAloneReason | 'turn'>;
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
      const is = this.#known.get(pod.uid) ?? { since: now, told: new Set() };
      known.set(pod.uid, is);
      const what = isTurn(reason) ? 'turn' : reason;
      if (is.told.has(what) || !isTold(reason) || due.length >= max) continue;
      if (pod.ended && wall - (pod.at ?? pod.createdAt) > recent) continue;
      if (!isToldAtOnce(reason) && now - is.since < long) continue;
      is.told.add(what);
      due.push(one);
    }
    this.#known = known;
    return due;
  }
}
