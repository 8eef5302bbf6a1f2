import { repairLimits } from '../../lib/limits.ts';

const { pause } = repairLimits.breaker;

/**
 * Stops repair after recreated pods of most controllers failed again. After a pause, single pods are tried, by turns of
 * their namespaces, until one passes. A namespace of which nothing is known tries one at once, so that those of a tenant
 * stop no others. Pure: `now` is milliseconds of a monotonic clock.
 */
export class Breaker {
  #until = Number.NEGATIVE_INFINITY;
  /** When a pod of a namespace may be tried next, of those whose pods failed again or were tried. */
  readonly #next = new Map<string, number>();

  isOpen(now: number): boolean {
    return now < this.#until;
  }

  /** Whether a pod of the namespace may be tried, or repair has not stopped. */
  allows(namespace: string, now: number): boolean {
    return !this.isOpen(now) || now >= (this.#next.get(namespace) ?? now);
  }

  /** Stops repair, which goes on by itself if no pod is tried. @param namespaces those whose pods failed again */
  open(namespaces: ReadonlySet<string>, now: number): void {
    this.#until = now + 2 * pause;
    this.#next.clear();
    for (const namespace of namespaces) this.#next.set(namespace, now + pause);
  }

  /**
   * A pod of the namespace is tried. Of the namespaces whose pods failed again, each other one has a turn before the next
   * turn of this one.
   */
  tried(namespace: string, now: number): void {
    if (!this.isOpen(now)) return;
    const turns = this.#next.has(namespace) ? this.#next.size : 0;
    if (turns > 0) {
      for (const [other, at] of this.#next) this.#next.set(other, Math.max(at, now + pause));
      this.#until = now + 2 * pause;
    }
    this.#next.set(namespace, now + pause * Math.max(1, turns));
  }

  /** The pod was not deleted after all. */
  cancelled(namespace: string): void {
    this.#next.delete(namespace);
  }

  /** A recreated pod passed. */
  close(): void {
    this.#until = Number.NEGATIVE_INFINITY;
  }
}
