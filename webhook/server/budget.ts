interface Waiter {
  bytes: number;
  grant: () => void;
}

/**
 * An amount of memory that requests share. A quarter is kept for small requests, so that a few large ones do not
 * stop all others. Who finds no room waits in line.
 */
export class Budget {
  /** The most that one request can get. */
  readonly largest: number;
  readonly #total: number;
  readonly #small: number;
  #used = 0;
  /** Small requests and others wait in lines of their own, the first comer first. */
  readonly #smallWaiting = new Set<Waiter>();
  readonly #largeWaiting = new Set<Waiter>();

  /**
   * @param total in bytes
   * @param small requests up to this many bytes may use all of it
   */
  constructor(total: number, small: number) {
    this.#total = total;
    this.#small = small;
    this.largest = Math.max((total * 3) / 4, small);
  }

  /** Bytes that are taken now. */
  get used(): number {
    return this.#used;
  }

  get waiting(): number {
    return this.#smallWaiting.size + this.#largeWaiting.size;
  }

  /** @returns whether there was room; false as well while others wait for room of this kind */
  tryTake(bytes: number): boolean {
    if (!this.#fits(bytes) || this.#lineOf(bytes).size > 0) return false;
    this.#used += bytes;
    return true;
  }

  /**
   * Waits for room.
   *
   * @param signal aborted when it is no use to wait longer
   * @returns whether there was room in time
   */
  take(bytes: number, signal: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const line = this.#lineOf(bytes);
    const giveUp = (): void => {
      line.delete(waiter);
      resolve(false);
      // there may be room for those behind it
      this.#grant();
    };
    const waiter: Waiter = {
      bytes,
      grant: () => {
        signal.removeEventListener('abort', giveUp);
        resolve(true);
      },
    };
    line.add(waiter);
    signal.addEventListener('abort', giveUp, { once: true });
    return promise;
  }

  give(bytes: number): void {
    this.#used -= bytes;
    this.#grant();
  }

  #grant(): void {
    for (const line of [this.#smallWaiting, this.#largeWaiting]) {
      for (const waiter of line) {
        // nobody overtakes: else a large request could wait for ever
        if (!this.#fits(waiter.bytes)) break;
        line.delete(waiter);
        this.#used += waiter.bytes;
        waiter.grant();
      }
    }
  }

  #lineOf(bytes: number): Set<Waiter> {
    return bytes <= this.#small ? this.#smallWaiting : this.#largeWaiting;
  }

  #fits(bytes: number): boolean {
    return this.#used + bytes <= (bytes <= this.#small ? this.#total : this.largest);
  }
}
