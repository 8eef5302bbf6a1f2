import { repairLimits } from '../../lib/limits.ts';

const { pause } = repairLimits.breaker;

/**
 * Stops repair when the replacements of most controllers' pods failed too. After a pause, repair tries single pods, in
 * turn from each namespace, until one passes. A namespace without failures may try a pod immediately, so that one
 * tenant's failures do not stop the repair of other tenants. `now` is in milliseconds of a monotonic clock.
 */
export class Breaker {
  #until = Number.NEGATIVE_INFINITY;
  /** When a namespace may next try a pod. A namespace without an entry may try a pod immediately. */
  readonly #next = new Map<string, number>();

  isOpen(now: number): boolean {
    return now < this.#until;
  }

  allows(namespace: string, now: number): boolean {
    return !this.isOpen(now) || now >= (this.#next.get(namespace) ?? now);
  }

  /**
   * Stops repair for two pauses, which begin anew whenever one of `namespaces` tries a pod.
   * @param namespaces those that try pods in turn
   */
  open(namespaces: ReadonlySet<string>, now: number): void {
    this.#until = now + 2 * pause;
    this.#next.clear();
    for (const namespace of namespaces) this.#next.set(namespace, now + pause);
  }

  /** Must be called when a pod is tried. The namespace then waits until every other namespace has had a turn. */
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
