/** How much one turn of the event loop may do. */
export interface TurnLimit {
  /** Milliseconds after which no more work begins in it. */
  time?: number;
  /** Pieces of work, where each goes on later and so cannot be timed. */
  count?: number;
}

/**
 * Runs work that cannot be cut in pieces so that no turn of the event loop has much of it: once a turn has had its
 * share, what is left waits for the next turns. In between connections are served and timers run. Those for whom work
 * waits have their turns one after the other, so that somebody with much of it does not keep others waiting.
 */
export class Turns {
  readonly #time: number;
  readonly #count: number;
  /** By whom the work is for; who is next stands first. */
  readonly #waiting = new Map<string, (() => void)[]>();
  /** When this turn began to work, or undefined before it did. */
  #since: number | undefined;
  #begun = 0;

  constructor({ time = Number.POSITIVE_INFINITY, count = Number.POSITIVE_INFINITY }: TurnLimit) {
    this.#time = time;
    this.#count = count;
  }

  /**
   * Runs work now, or in one of the next turns. It must not throw.
   *
   * @param whose such as the address of who asks for it
   */
  run(work: () => void, whose = ''): void {
    if (this.#waiting.size === 0 && !this.#isOver()) {
      this.#begin(work);
      return;
    }
    const others = this.#waiting.get(whose);
    if (others) others.push(work);
    else this.#waiting.set(whose, [work]);
  }

  #begin(work: () => void): void {
    if (this.#since === undefined) {
      this.#since = performance.now();
      setImmediate(() => this.#next());
    }
    this.#begun += 1;
    work();
  }

  /** What work calls forth, such as the handler of a body, counts as well: it runs before the next work does. */
  #isOver(): boolean {
    if (this.#since === undefined) return false;
    return this.#begun >= this.#count || performance.now() - this.#since >= this.#time;
  }

  /** A turn begins. */
  #next(): void {
    this.#since = undefined;
    this.#begun = 0;
    for (const [whose, queue] of this.#waiting) {
      if (this.#isOver()) return;
      const work = queue.shift();
      this.#waiting.delete(whose);
      // behind the others: the loop comes to it again
      if (queue.length > 0) this.#waiting.set(whose, queue);
      if (work) this.#begin(work);
    }
  }
}
