import { repairLimits } from '../../lib/limits.ts';

const { pause } = repairLimits.breaker;

/**
 * Stops repair after recreated pods of most controllers failed again. After a pause, single pods are tried, and their
 * namespaces take turns, until a pod passes. A namespace without failures may try a pod at once, so that a tenant's
 * failures do not stop the repair of other tenants. `now` is in milliseconds of a monotonic clock.
 */
export class Breaker {
  #until = Number.NEGATIVE_INFINITY;
  /** When a namespace may next try a pod. Only namespaces whose pods failed again or were tried have an entry. */
  readonly #next = new Map<string, number>();

  isOpen(now: number): boolean {
    return now < this.#until;
  }

  allows(namespace: string, now: number): boolean {
    return !this.isOpen(now) || now >= (this.#next.get(namespace) ?? now);
  }

  /** Stops repair. If no pod is tried, repair resumes after two pauses. @param namespaces that take turns */
  open(namespaces: ReadonlySet<string>, now: number): void {
    this.#until = now + 2 * pause;
    this.#next.clear();
    for (const namespace of namespaces) this.#next.set(namespace, now + pause);
  }

  /** Call it when a pod is tried. Then all other namespaces have their turn before this namespace's next turn. */
  tried(namespace: string, now: number): void {
    if (!this.isOpen(now)) return;
    const turns = this.#next.has(namespace) ? this.#next.size : 0;
    if (turns > 0) {
      for (const [other, at] of this.#next) this.#next.set(other, Math.max(at, now + pause));
      this.#until = now + 2 * pause;
    }
    this.#next.set(namespace, now + pause * Math.max(1, turns));
  }

  cancelled(namespace: string): void {
    this.#next.delete(namespace);
  }

  close(): void {
    this.#until = Number.NEGATIVE_INFINITY;
  }
}
