import { repairLimits } from '../lib/limits.ts';
import { BackOff } from '../steer/back-off.ts';
import type { Room } from './types.ts';

const { least, within, pause, longestPause } = repairLimits.breaker;

/** A verdict of a recreated pod. */
interface Counted {
  at: number;
  namespace: string;
  passed: boolean;
}

/**
 * Stops repair when most recreated pods failed again, and lets one through after a pause to find out. Times are
 * milliseconds of a monotonic clock.
 */
export class Breaker {
  readonly #backOff = new BackOff({ pause, longestPause });
  readonly #ofNamespace: number;
  #counted: Counted[] = [];
  /** The pod that is recreated to find out. */
  #trial: { uid: string; at: number; first: boolean } | undefined;
  /** When the next one may find out, apart from the growing pauses. */
  #again = Number.NEGATIVE_INFINITY;
  #open = false;
  /** Since when no failed pod waits for the stop to end. */
  #unneededSince: number | undefined;

  /** @param ofNamespace how many verdicts of one namespace count */
  constructor(ofNamespace = Number.POSITIVE_INFINITY) {
    this.#ofNamespace = ofNamespace;
  }

  /** Whether repair has stopped, apart from single pods that find out. */
  get isOpen(): boolean {
    return this.#open;
  }

  room(now: number): Room {
    if (!this.#open) return { count: Number.POSITIVE_INFINITY, reason: 'breaker', again: undefined };
    const notBefore = Math.max(this.#backOff.notBefore, this.#again);
    if (notBefore > now) return { count: 0, reason: 'breaker', again: notBefore };
    const awaited = this.#trial !== undefined && now - this.#trial.at < repairLimits.verdict;
    return { count: awaited ? 0 : 1, reason: 'breaker', again: undefined };
  }

  /**
   * @param pod the recreated one
   * @param first whether no failure is known of its like. Then its failure does not make the others wait longer
   */
  made({ uid }: { uid: string }, now: number, first = false): void {
    if (this.#open) this.#trial = { uid, at: now, first };
  }

  /**
   * Counts a verdict. While repair has stopped, only that of the pod that finds out counts.
   *
   * @param pod the recreated one
   * @returns whether repair stops or goes on because of it
   */
  ended({ uid, namespace }: { uid: string; namespace: string }, passed: boolean, now: number): boolean {
    if (this.#open) {
      if (this.#trial?.uid !== uid) return false;
      const { first } = this.#trial;
      this.#trial = undefined;
      if (passed) this.#close();
      else if (first) this.#again = now + pause;
      else this.#backOff.failed(now);
      return passed;
    }
    const recent = this.#counted.filter(({ at }) => now - at < within);
    recent.push({ at: now, namespace, passed });
    // of those of this namespace, the oldest one is dropped
    const own = recent.filter((counted) => counted.namespace === namespace);
    const [oldest] = own;
    this.#counted = own.length > this.#ofNamespace ? recent.filter((counted) => counted !== oldest) : recent;
    const failed = this.#counted.filter((counted) => !counted.passed).length;
    if (this.#counted.length < least || 2 * failed <= this.#counted.length) return false;
    this.#open = true;
    this.#trial = undefined;
    this.#backOff.failed(now);
    return true;
  }

  /**
   * Ends a stop if no failed pod has waited for its end for a minute: nobody is left who could find out.
   *
   * @param isNeeded whether there are failed pods that could be recreated
   */
  need(isNeeded: boolean, now: number): void {
    const awaited = this.#trial !== undefined && now - this.#trial.at < repairLimits.verdict;
    if (!this.#open || isNeeded || awaited) {
      this.#unneededSince = undefined;
      return;
    }
    this.#unneededSince ??= now;
    if (now - this.#unneededSince >= repairLimits.verdict) this.#close();
  }

  /** Whether nothing that it knows matters any longer. */
  isIdle(now: number): boolean {
    return !this.#open && this.#counted.every(({ at }) => now - at >= within);
  }

  #close(): void {
    this.#open = false;
    this.#unneededSince = undefined;
    this.#trial = undefined;
    this.#counted = [];
    this.#backOff.worked();
  }
}
