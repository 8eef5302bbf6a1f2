/** Milliseconds of a turn of the event loop after which no more work begins in it. */
const turnTime = 10;

/**
 * Bounds the work that begins in one turn of the event loop, by time and by count. In between, connections are served
 * and timers run. For work that cannot be cut in pieces, of which much may come at once.
 */
export class EventLoopBudget {
  readonly #count: number;
  readonly #waiting: (() => void)[] = [];
  #begun = 0;
  /** When work began in this turn, by `performance.now()`; undefined before that. */
  #since: number | undefined;

  /** @param count pieces of work for each turn */
  constructor(count = Number.POSITIVE_INFINITY) {
    this.#count = count;
  }

  /**
   * Resolves when the caller may begin; undefined where that is now.
   *
   * @param isFirst whether it goes before all that wait
   */
  turn(isFirst = false): Promise<void> | undefined {
    if (this.#waiting.length === 0 && this.#begins()) return undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    if (isFirst) this.#waiting.unshift(resolve);
    else this.#waiting.push(resolve);
    return promise;
  }

  /** Whether one more may begin in this turn. It counts then. */
  #begins(): boolean {
    if (this.#since === undefined) {
      this.#since = performance.now();
      setImmediate(() => this.#next());
    }
    if (this.#begun >= this.#count || performance.now() - this.#since >= turnTime) return false;
    this.#begun += 1;
    return true;
  }

  /** A turn begins. */
  async #next(): Promise<void> {
    this.#since = undefined;
    this.#begun = 0;
    // the caller goes on before this does
    while (this.#waiting.length > 0 && this.#begins()) await this.#waiting.shift()?.();
  }
}
