import { repairLimits } from '../../lib/limits.ts';
import type { PodEvidence } from '../../nodes/evidence/facts.ts';
import type { Recreation } from './types.ts';

/** What became of a recreation: the verdict of the pod that replaced it. `unknown`: none came, or it says nothing. */
export type Outcome = 'passed' | 'failed' | 'unknown';

/** A recreation whose outcome is not known yet. */
export interface Attempt {
  recreation: Recreation;
  at: number;
}

const { pause, longestPause, second, verdict: longest } = repairLimits;

/** What the pods of one controller learn from each other: a back-off. Times are milliseconds of a monotonic clock. */
export class OwnerRecord {
  /** By UID of the deleted pod, the oldest first. */
  readonly #attempts = new Map<string, Attempt>();
  /** UIDs of pods that came since the first attempt, and have no verdict. */
  readonly #successors = new Set<string>();
  #failures = 0;
  #retryAt = Number.NEGATIVE_INFINITY;
  #failedAt = Number.NEGATIVE_INFINITY;
  #trustedUntil = Number.NEGATIVE_INFINITY;

  /** How long its pods pause, in milliseconds; 0 where they do not. */
  pause(now: number): number {
    return Math.max(0, this.#retryAt - now);
  }

  /**
   * Whether one more of its pods may be recreated. One is tried first, and a second one if the first has no verdict for
   * long. After a success, and where a proof has passed on the node since, all are recreated.
   *
   * @param uid the pod that asks: it does not wait for itself
   */
  hasTurn(uid: string, { proven, ordered }: { proven: boolean; ordered: boolean }, now: number): boolean {
    const others = this.#attempts.size - (this.#attempts.has(uid) ? 1 : 0);
    if (others === 0) return true;
    if (ordered) return false;
    if (this.#trustedUntil > now || (proven && this.#failures === 0)) return true;
    const [first] = this.#attempts.values();
    return others === 1 && this.#failures === 0 && first !== undefined && now - first.at >= second;
  }

  /** A pod is going to be deleted. */
  begin(recreation: Recreation, now: number): void {
    this.#attempts.set(recreation.pod.uid, { recreation, at: now });
  }

  /** The pod was not deleted after all. */
  cancel(uid: string): void {
    this.#attempts.delete(uid);
  }

  /** A pod of the controller was not there before. */
  appeared(uid: string): void {
    if (this.#attempts.size > 0) this.#successors.add(uid);
  }

  /**
   * A pod of the controller changed, or is gone.
   *
   * @returns the attempt that ended with its verdict, and how; undefined if none did
   */
  changed({ uid, verdict }: PodEvidence, now: number): (Attempt & { outcome: Outcome }) | undefined {
    if (verdict === 'waiting' || !this.#successors.delete(uid)) return undefined;
    const [attempt] = this.#attempts.values();
    const outcome = verdict === 'passed' || verdict === 'failed' ? verdict : 'unknown';
    if (outcome === 'passed') this.#recordSuccess(now);
    if (attempt === undefined) return undefined;
    this.#attempts.delete(attempt.recreation.pod.uid);
    if (outcome === 'failed') this.#recordFailure(attempt.at, now);
    return { ...attempt, outcome };
  }

  /** The pod is gone: it gets no verdict any more. */
  gone(uid: string): void {
    this.#successors.delete(uid);
  }

  /** Ends the attempts without a verdict for long: other pods wait no longer for them, but for a pause. */
  endOverdue(now: number): Attempt[] {
    const overdue = [...this.#attempts.values()].filter(({ at }) => now - at >= longest);
    for (const { recreation, at } of overdue) {
      this.#attempts.delete(recreation.pod.uid);
      this.#recordFailure(at, now);
    }
    return overdue;
  }

  /** Whether nothing that it knows matters any longer. */
  isIdle(now: number): boolean {
    return this.#attempts.size === 0 && this.#trustedUntil <= now && this.#retryAt + longestPause <= now;
  }

  #recordSuccess(now: number): void {
    this.#failures = 0;
    this.#failedAt = Number.NEGATIVE_INFINITY;
    this.#retryAt = Number.NEGATIVE_INFINITY;
    this.#trustedUntil = now + repairLimits.trust;
  }

  /** @param at when the attempt was made. One that was made before a failure was known belongs to that failure */
  #recordFailure(at: number, now: number): void {
    this.#trustedUntil = Number.NEGATIVE_INFINITY;
    if (at <= this.#failedAt) return;
    this.#failedAt = now;
    this.#retryAt = now + Math.min(pause * 2 ** this.#failures, longestPause);
    this.#failures += 1;
  }
}
