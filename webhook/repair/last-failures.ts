import type { PodEvidence } from '../evidence/facts.ts';
import { repairLimits } from '../lib/limits.ts';

/** Whose pod was recreated. */
type Whose = Pick<PodEvidence, 'namespace' | 'owner'>;

/**
 * When a recreated pod of each namespace and controller last failed again, or got no verdict, if none has passed since.
 * Where few pods may be recreated, those come first whose last failure is the longest ago: pods that fail for their own
 * sake must not take every turn. Times are milliseconds of a monotonic clock.
 */
export class LastFailures {
  /** Those of the longest ago first. */
  readonly #times = new Map<string, number>();

  failed(pod: Whose, now: number): void {
    for (const key of keysOf(pod)) {
      this.#times.delete(key);
      this.#times.set(key, now);
    }
    for (const key of this.#times.keys()) {
      if (this.#times.size <= repairLimits.lastFailures) break;
      this.#times.delete(key);
    }
  }

  worked(pod: Whose): void {
    for (const key of keysOf(pod)) this.#times.delete(key);
  }

  ofNamespace({ namespace }: Whose): number {
    return this.#times.get(namespace) ?? 0;
  }

  ofOwner(pod: Whose): number {
    return this.#times.get(pod.owner) ?? 0;
  }
}

const keysOf = ({ namespace, owner }: Whose): string[] => [namespace, owner];
