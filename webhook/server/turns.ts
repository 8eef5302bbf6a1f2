import { Semaphore } from '../lib/semaphore.ts';

/**
 * Lets one piece of work begin in each turn of the event loop: connections are served and timers run in between. For
 * work of milliseconds, of which a thousand callers may want much at the same time.
 */
export class Turns {
  readonly #turn = new Semaphore(1);

  /**
   * Waits for a turn.
   *
   * @param time the longest wait in milliseconds
   * @param isFirst whether it goes before all that are not
   * @returns whether there was a turn in time
   */
  async next(time: number, isFirst: boolean): Promise<boolean> {
    const isMine = await this.#turn.take(time, isFirst);
    if (isMine) setImmediate(() => this.#turn.give());
    return isMine;
  }
}
