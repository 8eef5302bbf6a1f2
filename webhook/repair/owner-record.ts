import { repairLimits } from '../lib/limits.ts';
import { BackOff } from '../steer/back-off.ts';
import type { Attempt } from './attempt.ts';
import type { Room } from './types.ts';
import { minute, Window } from './window.ts';

/** What is known of a pod of the controller that is to be recreated. */
export interface Chance {
  /** Whether a proof has passed on its node since it failed. */
  proven: boolean;
  /** Whether another node is open to it. */
  elsewhere: boolean;
  /** Whether the controller's pods are recreated one after the other. */
  ordered: boolean;
}

const { fruitless, second, trust } = repairLimits;

/** What the pods of one controller learn from each other. Times are milliseconds of a monotonic clock. */
export class OwnerRecord {
  readonly backOff = new BackOff(repairLimits);
  readonly lastMinute = new Window(minute);
  /** Attempts whose verdict is expected. */
  attempts: Attempt[] = [];
  /** UIDs of the controller's pods that are no replacement of an attempt. */
  known: Set<string> = new Set();
  /** Attempts since the last success. */
  readonly #fruitless = new Window(fruitless.within);
  #trustedUntil = Number.NEGATIVE_INFINITY;
  #failureSeen = Number.NEGATIVE_INFINITY;

  /** How often recreated pods failed again since the last success; those in one pause count once. */
  get failures(): number {
    return this.backOff.failures;
  }

  /** @param perMinute the budget */
  room(now: number, perMinute: number, { proven, elsewhere, ordered }: Chance): Room {
    const {
      backOff: { notBefore },
      failures,
    } = this;
    if (notBefore > now) return { count: 0, reason: 'owner-pause', again: notBefore };
    const inBudget = perMinute - this.lastMinute.count(now);
    if (inBudget <= 0) {
      return { count: 0, reason: 'budget', again: this.lastMinute.opensAt(perMinute, now) };
    }
    const trusted = this.#trustedUntil > now;
    if (!trusted && !proven && elsewhere) {
      const again = this.#fruitless.opensAt(fruitless.count, now);
      if (again > now) return { count: 0, reason: 'owner-pause', again };
    }
    const awaited = this.attempts.filter(({ late }) => !late);
    const turn = (atATime: number, again?: number): Room => ({
      count: Math.min(inBudget, atATime - awaited.length),
      reason: 'owner-turn',
      again,
    });
    if (ordered) return turn(1);
    if (trusted || (proven && failures === 0)) return turn(Number.POSITIVE_INFINITY);
    const [first] = awaited;
    if (first === undefined || elsewhere || failures > 0) return turn(1);
    return first.at + second > now ? turn(1, first.at + second) : turn(2);
  }

  /** An attempt was made. The budget counts it apart from this. */
  made(attempt: Attempt, now: number): void {
    this.attempts.push(attempt);
    this.#fruitless.add(now);
  }

  worked(now: number): void {
    this.backOff.worked();
    this.#fruitless.clear();
    this.#trustedUntil = now + trust;
  }

  /** @param at when the attempt was made. One that was made before a failure was known belongs to that failure */
  failed(at: number, now: number): void {
    if (at >= this.#failureSeen) this.backOff.failed(now);
    this.#failureSeen = now;
    this.#trustedUntil = Number.NEGATIVE_INFINITY;
  }

  /** Whether nothing that it knows matters any longer. */
  isIdle(now: number): boolean {
    const { notBefore } = this.backOff;
    return (
      this.attempts.length === 0 &&
      this.#fruitless.count(now) === 0 &&
      this.lastMinute.count(now) === 0 &&
      this.#trustedUntil <= now &&
      notBefore + repairLimits.longestPause <= now
    );
  }
}
