/** A counting semaphore with two priorities. */
export class Semaphore {
  #free: number;
  /** Waiting callers: first those with priority, then all others; a set keeps the order of arrival. */
  readonly #waiting = [new Set<() => void>(), new Set<() => void>()] as const;

  /** @param places how many callers may hold a place at a time */
  constructor(places: number) {
    this.#free = places;
  }

  /**
   * Takes a place, or waits for one.
   *
   * @param time the longest wait in milliseconds
   * @param isFirst whether the caller has priority
   * @returns whether a place was free in time
   */
  async take(time: number, isFirst = false): Promise<boolean> {
    if (this.#free > 0) {
      this.#free -= 1;
      return true;
    }
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const queue = this.#waiting[isFirst ? 0 : 1];
    const grant = (): void => resolve(true);
    queue.add(grant);
    const late = setTimeout(() => {
      queue.delete(grant);
      resolve(false);
    }, time);
    const granted = await promise;
    clearTimeout(late);
    return granted;
  }

  /**
   * Takes a place for the current turn of the event loop. Before the next callers get their places, the event loop
   * serves connections and timers. @returns as {@link take}
   */
  async turn(time: number, isFirst: boolean): Promise<boolean> {
    const isMine = await this.take(time, isFirst);
    if (isMine) setImmediate(() => this.give());
    return isMine;
  }

  /** Gives a place back; the next waiting caller gets it. */
  give(): void {
    for (const queue of this.#waiting) {
      for (const grant of queue) {
        queue.delete(grant);
        grant();
        return;
      }
    }
    this.#free += 1;
  }
}
