import { Semaphore } from '../lib/semaphore.ts';

/**
 * Lets a few pieces of work begin in each turn of the event loop: connections are served and timers run in between. For
 * work of milliseconds, of which a thousand callers may want much at the same time.
 */
export class Turns {
  readonly #begun: Semaphore;

  /** @param count pieces of work for each turn */
  constructor(count: number) {
    this.#begun = new Semaphore(count);
  }

  /**
   * Waits for a turn.
   *
   * @param time the longest wait in milliseconds
   * @param isFirst whether it goes before all that are not
   * @returns whether there was a turn in time
   */
  async next(time: number, isFirst: boolean): Promise<boolean> {
    const isMine = await this.#begun.take(time, isFirst);
    if (isMine) setImmediate(() => this.#begun.give());
    return isMine;
  }
}
