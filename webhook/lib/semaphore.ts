interface Waiter {
  amount: number;
  grant: () => void;
}

/** A semaphore over an amount, such as bytes of memory. A quarter of it can be reserved for small requests. */
export class Semaphore {
  readonly #total: number;
  readonly #small: number;
  /** Those that go first, then all others, each in the order of their arrival. */
  readonly #waiting = [new Set<Waiter>(), new Set<Waiter>()] as const;
  #used = 0;

  /**
   * @param total amount for all requests
   * @param small requests up to this amount may use the reserve. Absent: all may
   */
  constructor(total: number, small = total) {
    this.#total = total;
    this.#small = small;
  }

  /** The amount that is taken now. */
  get used(): number {
    return this.#used;
  }

  /** The number of requests that wait. */
  get waiting(): number {
    const [first, others] = this.#waiting;
    return first.size + others.size;
  }

  /** Those of them that go first. */
  get waitingFirst(): number {
    return this.#waiting[0].size;
  }

  /** Takes an amount if it is free now. */
  tryTake(amount: number): boolean {
    const total = amount <= this.#small ? this.#total : (this.#total * 3) / 4;
    if (this.#used + amount > total) return false;
    this.#used += amount;
    return true;
  }

  /**
   * Takes an amount, and waits until it is free.
   *
   * @param time the longest wait in milliseconds
   * @param isFirst whether it goes before all that are not
   * @returns whether it was free in time
   */
  async take(amount: number, time: number, isFirst = false): Promise<boolean> {
    if (this.tryTake(amount)) return true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const waiter: Waiter = { amount, grant: () => resolve(true) };
    const queue = this.#waiting[isFirst ? 0 : 1];
    const late = setTimeout(() => {
      queue.delete(waiter);
      resolve(false);
    }, time);
    queue.add(waiter);
    const granted = await promise;
    clearTimeout(late);
    return granted;
  }

  /** Gives an amount back. The requests that waited longest get it, as far as they fit. */
  give(amount: number): void {
    this.#used -= amount;
    for (const queue of this.#waiting) {
      for (const waiter of queue) {
        if (!this.tryTake(waiter.amount)) continue;
        queue.delete(waiter);
        waiter.grant();
      }
    }
  }
}
