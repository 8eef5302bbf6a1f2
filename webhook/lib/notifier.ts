import { setTimeout as sleep } from 'node:timers/promises';

/** Lets a loop sleep until it is notified, or until a time is over. */
export class Notifier {
  #notified = Promise.withResolvers<void>();

  /** Ends the current {@link wait}. If nothing waits, the next wait ends immediately. */
  notify(): void {
    this.#notified.resolve();
  }

  /** Waits until {@link notify} is called, `signal` aborts, or the time is over. @param max milliseconds */
  async wait(max: number, signal: AbortSignal): Promise<void> {
    const over = new AbortController();
    const timer = sleep(max, undefined, { signal: AbortSignal.any([signal, over.signal]) }).catch(() => {});
    await Promise.race([this.#notified.promise, timer]);
    over.abort();
    this.#notified = Promise.withResolvers<void>();
  }
}
