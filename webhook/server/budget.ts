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
  readonly #waiting = new Set<Waiter>();

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
    return this.#waiting.size;
  }

  /** @returns whether there was room; false as well while others wait for room of this kind */
  tryTake(bytes: number): boolean {
    if (!this.#fits(bytes)) return false;
    for (const waiter of this.#waiting) {
      if (waiter.bytes <= this.#small === bytes <= this.#small) return false;
    }
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
    const giveUp = (): void => {
      this.#waiting.delete(waiter);
      resolve(false);
    };
    const waiter: Waiter = {
      bytes,
      grant: () => {
        signal.removeEventListener('abort', giveUp);
        resolve(true);
      },
    };
    this.#waiting.add(waiter);
    signal.addEventListener('abort', giveUp, { once: true });
    return promise;
  }

  give(bytes: number): void {
    this.#used -= bytes;
    for (const waiter of this.#waiting) {
      if (!this.#fits(waiter.bytes)) continue;
      this.#waiting.delete(waiter);
      this.#used += waiter.bytes;
      waiter.grant();
    }
  }

  #fits(bytes: number): boolean {
    return this.#used + bytes <= (bytes <= this.#small ? this.#total : this.largest);
  }
}
