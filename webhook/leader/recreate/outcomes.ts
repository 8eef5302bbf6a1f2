import { repairLimits } from '../../lib/limits.ts';
import type { PodEvidence } from '../../nodes/evidence/facts.ts';

const { least, within, ofNamespace, pause } = repairLimits.breaker;

/** A failure is remembered for so long, in milliseconds. */
const longest = 3_600_000;

/** Whose pod was recreated. */
type Whose = Pick<PodEvidence, 'namespace' | 'owner'>;

/**
 * What became of the recreated pods of each controller, and the breaker that reads it: it stops all repair for a while
 * when those of most controllers failed again. Each controller counts once, and of each namespace a few, so that one
 * tenant's pods cannot stop the repair of others. Times are milliseconds of a monotonic clock.
 */
export class Outcomes {
  /** The last outcome by owner, the oldest first. */
  readonly #last = new Map<string, { at: number; namespace: string; passed: boolean }>();
  /** By namespace and by owner: the last failure, if none has passed since. */
  readonly #failedAt = new Map<string, number>();
  #stoppedUntil = Number.NEGATIVE_INFINITY;

  /** A recreated pod passed, or failed again. */
  record(pod: Whose, passed: boolean, now: number): void {
    const { namespace, owner } = pod;
    this.#last.delete(owner);
    this.#last.set(owner, { at: now, namespace, passed });
    if (passed) for (const key of [namespace, owner]) this.#failedAt.delete(key);
    else this.late(pod, now);
    if (this.isStopped(now) || !this.#mostFailed(now)) return;
    this.#stoppedUntil = now + pause;
    this.#last.clear();
  }

  /** A recreated pod had no verdict in time. The breaker does not count it. */
  late({ namespace, owner }: Whose, now: number): void {
    for (const key of [namespace, owner]) this.#failedAt.set(key, now);
  }

  /** Whether repair has stopped. */
  isStopped(now: number): boolean {
    return now < this.#stoppedUntil;
  }

  /** Whether the last failure of a pod's namespace, else of its controller, is longer ago than that of another pod. */
  failedBefore(pod: Whose, other: Whose): boolean {
    const failedAt = (key: string): number => this.#failedAt.get(key) ?? 0;
    const byNamespace = failedAt(pod.namespace) - failedAt(other.namespace);
    return (byNamespace || failedAt(pod.owner) - failedAt(other.owner)) < 0;
  }

  /** Forgets what does not count any longer. */
  forgetOld(now: number): void {
    for (const [key, at] of this.#failedAt) if (now - at >= longest) this.#failedAt.delete(key);
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
