import { repairLimits } from '../../lib/limits.ts';
import type { PodEvidence } from '../../nodes/evidence/facts.ts';

const { least, within, ofNamespace, pause } = repairLimits.breaker;

/**
 * Stops all repair for a while when recreated pods of most controllers failed again. Each controller counts once, and of
 * each namespace a few, so that one tenant's pods cannot stop the repair of others. Times are milliseconds of a monotonic
 * clock.
 */
export class Breaker {
  /** The last outcome by owner, the oldest first. */
  readonly #last = new Map<string, { at: number; namespace: string; passed: boolean }>();
  #stoppedUntil = Number.NEGATIVE_INFINITY;

  /** A recreated pod passed, or failed again. */
  record({ namespace, owner }: PodEvidence, passed: boolean, now: number): void {
    this.#last.delete(owner);
    this.#last.set(owner, { at: now, namespace, passed });
    if (this.isStopped(now) || !this.#mostFailed(now)) return;
    this.#stoppedUntil = now + pause;
    this.#last.clear();
  }

  /** Whether repair has stopped. */
  isStopped(now: number): boolean {
    return now < this.#stoppedUntil;
  }

  #mostFailed(now: number): boolean {
    for (const [key, { at }] of this.#last) if (now - at >= within) this.#last.delete(key);
    const failures = new Map<string, number>();
    let passed = 0;
    for (const { namespace, passed: isPass } of this.#last.values()) {
      if (isPass) passed += 1;
      else failures.set(namespace, Math.min((failures.get(namespace) ?? 0) + 1, ofNamespace));
    }
    const failed = [...failures.values()].reduce((sum, count) => sum + count, 0);
    return failed + passed >= least && failed > passed;
  }
}
