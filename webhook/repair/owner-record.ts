import { repairLimits } from '../lib/limits.ts';
import { BackOff } from '../steer/back-off.ts';
import type { Attempt } from './attempt.ts';
import type { OwnerLegacy } from './legacy.ts';
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

const { fruitless, fruitlessWithOtherNode, trust } = repairLimits;

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
    if (!trusted && !proven) {
      const { count, within } = elsewhere ? fruitlessWithOtherNode : fruitless;
      const again = this.#fruitless.opensAt(count, now, within);
      if (again > now) return { count: 0, reason: 'owner-pause', again };
    }
    const atATime = !ordered && (trusted || (proven && failures === 0)) ? Number.POSITIVE_INFINITY : 1;
    const awaited = this.attempts.filter(({ late }) => !late).length;
    return { count: Math.min(inBudget, atATime - awaited), reason: 'owner-turn', again: undefined };
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

  /** A pod that was created at this time passed: a success of attempts of the leader before. */
  passed(createdAt: number, now: number): void {
    if (!this.#fruitless.clearUpTo(createdAt)) return;
    this.backOff.worked();
    this.#trustedUntil = now + trust;
  }

  failed(now: number): void {
    this.backOff.failed(now);
    this.#trustedUntil = Number.NEGATIVE_INFINITY;
  }

  /** What the next leader has to know; undefined where that is nothing. */
  legacy(now: number): OwnerLegacy | undefined {
    const since = (time: number): number => time - now;
    const { failures, notBefore } = this.backOff;
    const recent = this.lastMinute.times(now).map(since);
    const fruitless = this.#fruitless.times(now).map(since);
    if (failures + recent.length + fruitless.length === 0) return undefined;
    return { recent, fruitless, failures, notBefore: failures === 0 ? 0 : since(notBefore) };
  }

  /**
   * Takes over what the leader before did, and what it may have done besides: see {@link RepairHistory.inherit}. All
   * times are ascending.
   *
   * @param recent when pods may have been recreated in the last minute
   * @param fruitless when pods may have been recreated that failed again
   * @param left what it left
   */
  inherit(recent: readonly number[], fruitless: readonly number[], left?: OwnerLegacy): void {
    const merged = (one: readonly number[], other: readonly number[] = []): number[] =>
      [...one, ...other].sort((a, b) => a - b);
    for (const time of merged(recent, left?.recent)) this.lastMinute.add(time);
    for (const time of merged(fruitless, left?.fruitless)) this.#fruitless.add(time);
    if (left !== undefined) this.backOff.resume(left.failures, left.notBefore);
    for (const time of fruitless) this.backOff.failed(time);
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
