import { repairLimits } from '../../lib/limits.ts';
import type { PodEvidence } from '../../nodes/evidence/facts.ts';

/** What became of a recreation: the verdict of the pod that replaced it. `unknown`: none came, or it says nothing. */
export type Outcome = 'passed' | 'failed' | 'unknown';

const { pause, longestPause, second, verdict: longest, burst } = repairLimits;

/** What the pods of one controller learn from each other: a back-off. Times are milliseconds of a monotonic clock. */
export class OwnerRecord {
  /** The time of each recreation without an outcome, by the UID of the deleted pod, the oldest first. */
  readonly #attempts = new Map<string, number>();
  /** UIDs of pods that came since the first attempt, and have no verdict. */
  readonly #successors = new Set<string>();
  #failures = 0;
  #retryAt = Number.NEGATIVE_INFINITY;
  #burstUntil = Number.NEGATIVE_INFINITY;

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
    if (this.#burstUntil > now || (proven && this.#failures === 0)) return true;
    const [first = now] = this.#attempts.values();
    return others === 1 && this.#failures === 0 && now - first >= second;
  }

  /** A pod is going to be deleted. */
  begin(uid: string, now: number): void {
    this.#attempts.set(uid, now);
  }

  /** The pod was not deleted after all. */
  cancel(uid: string): void {
    this.#attempts.delete(uid);
  }

  /** A pod of the controller was not there before. */
  appeared(uid: string): void {
    if (this.#attempts.size > 0) this.#successors.add(uid);
  }

  /** A pod of the controller changed. @returns the outcome of an attempt that ended with its verdict */
  changed({ uid, verdict }: PodEvidence, now: number): Outcome | undefined {
    if (verdict === 'waiting' || !this.#successors.delete(uid)) return undefined;
    if (verdict === 'passed') this.#recordSuccess(now);
    const [attempt] = this.#attempts.keys();
    if (attempt === undefined) return undefined;
    this.#attempts.delete(attempt);
    if (verdict === 'failed') this.#recordFailure(now);
    return verdict === 'passed' || verdict === 'failed' ? verdict : 'unknown';
  }

  /** The pod is gone: it gets no verdict any more. */
  gone(uid: string): void {
    this.#successors.delete(uid);
  }

  /** Ends the attempts without a verdict for long: other pods wait no longer for them, but for a pause. @returns how many */
  endOverdue(now: number): number {
    const overdue = [...this.#attempts].filter(([, at]) => now - at >= longest);
    for (const [uid] of overdue) this.#attempts.delete(uid);
    if (overdue.length > 0) this.#recordFailure(now);
    return overdue.length;
  }

  /** Whether nothing that it knows matters any longer. */
  isIdle(now: number): boolean {
    return this.#attempts.size === 0 && this.#burstUntil <= now && this.#retryAt + longestPause <= now;
  }

  #recordSuccess(now: number): void {
    this.#failures = 0;
    this.#retryAt = Number.NEGATIVE_INFINITY;
    this.#burstUntil = now + burst;
  }

  /** Failures during a pause belong to attempts from before it. */
  #recordFailure(now: number): void {
    this.#burstUntil = Number.NEGATIVE_INFINITY;
    if (now < this.#retryAt) return;
    this.#retryAt = now + Math.min(pause * 2 ** this.#failures, longestPause);
    this.#failures += 1;
  }
}
