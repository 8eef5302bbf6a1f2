import { setTimeout as sleep } from 'node:timers/promises';

/** Lets a loop sleep until something happens, or until it is time. */
export class Wake {
  #woken = Promise.withResolvers<void>();

  /** Something happened; remembered until the next {@link wait}. */
  call(): void {
    this.#woken.resolve();
  }

  /** @param most milliseconds */
  async wait(most: number, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const timer = sleep(most, undefined, { signal: AbortSignal.any([signal, over.signal]) }).catch(() => {});
    await Promise.race([this.#woken.promise, timer]);
    over.abort();
    this.#woken = Promise.withResolvers<void>();
  }
}
