import { turn } from '../lib/limits.ts';

/**
 * Bounds the work that begins in one turn of the event loop, by count and by time. In between, connections are served
 * and timers run. For work that cannot be cut in pieces, of which much may come at once.
 */
export class EventLoopBudget {
  readonly #waiting: (() => void)[] = [];
  #scheduled = false;

  /**
   * Resolves when the caller may begin.
   *
   * @param isFirst whether it goes before all that wait
   */
  turn(isFirst = false): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (isFirst) this.#waiting.unshift(resolve);
    else this.#waiting.push(resolve);
    this.#schedule();
    return promise;
  }

  #schedule(): void {
    if (this.#scheduled || this.#waiting.length === 0) return;
    this.#scheduled = true;
    setImmediate(() => this.#next());
  }

  async #next(): Promise<void> {
    const begun = performance.now();
    for (let count = 0; count < turn.count && performance.now() - begun < turn.time; count++) {
      // the caller goes on before this does
      await this.#waiting.shift()?.();
    }
    this.#scheduled = false;
    this.#schedule();
  }
}
