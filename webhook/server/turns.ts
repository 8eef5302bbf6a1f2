/** How much one turn of the event loop may do. */
export interface TurnLimit {
  /** Milliseconds after which no more work begins in it. */
  time?: number;
  /** Pieces of work, where each goes on later and so cannot be timed. */
  count?: number;
  /** Pieces of work that have begun and not ended, in all turns. Whoever sets this calls {@link Turns.ended}. */
  atATime?: number;
}

/**
 * Runs work that cannot be cut in pieces so that no turn of the event loop has much of it: once a turn has had its
 * share, what is left waits for the next turns. In between connections are served and timers run. Those for whom work
 * waits have their turns one after the other, so that somebody with much of it does not keep others waiting.
 */
export class Turns {
  readonly #limit: Required<TurnLimit>;
  /** By whom the work is for; who is next stands first. */
  readonly #waiting = new Map<string, Set<() => void>>();
  /** When this turn began to work, or undefined before it did. */
  #since: number | undefined;
  #begun = 0;
  #running = 0;
  #scheduled = false;

  constructor(limit: TurnLimit) {
    const none = Number.POSITIVE_INFINITY;
    this.#limit = { time: none, count: none, atATime: none, ...limit };
  }

  /** Whether somebody's work has to wait. */
  get waiting(): boolean {
    return this.#waiting.size > 0;
  }

  /**
   * Runs work now, or in one of the next turns. It must not throw.
   *
   * @param whose such as the address of who asks for it
   */
  run(work: () => void, whose = ''): void {
    if (!this.waiting && !this.#isOver()) {
      this.#begin(work);
      return;
    }
    const others = this.#waiting.get(whose);
    if (others) others.add(work);
    else this.#waiting.set(whose, new Set([work]));
  }

  /** Takes back work that waits. @returns whether it had not begun */
  cancel(work: () => void, whose = ''): boolean {
    const queue = this.#waiting.get(whose);
    if (!queue?.delete(work)) return false;
    if (queue.size === 0) this.#waiting.delete(whose);
    return true;
  }

  /** A piece of work that has begun is at its end. */
  ended(): void {
    this.#running -= 1;
    if (this.waiting) this.#schedule();
  }

  #begin(work: () => void): void {
    this.#since ??= performance.now();
    this.#schedule();
    this.#begun += 1;
    this.#running += 1;
    work();
  }

  /** What work calls forth, such as the handler of a body, counts as well: it runs before the next work does. */
  #isOver(): boolean {
    const { time, count, atATime } = this.#limit;
    if (this.#running >= atATime) return true;
    if (this.#since === undefined) return false;
    return this.#begun >= count || performance.now() - this.#since >= time;
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    setImmediate(() => this.#next());
  }

  /** A turn begins. */
  #next(): void {
    this.#scheduled = false;
    this.#since = undefined;
    this.#begun = 0;
    for (const [whose, queue] of this.#waiting) {
      if (this.#isOver()) return;
      const [work] = queue;
      if (work) queue.delete(work);
      this.#waiting.delete(whose);
      // behind the others: the loop comes to it again
      if (queue.size > 0) this.#waiting.set(whose, queue);
      if (work) this.#begin(work);
    }
  }
}
