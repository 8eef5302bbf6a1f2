/**
 * Answers of which the beginning is read at once, and the rest when it is their turn. Many may be asked for at a time,
 * and all may be large: small ones pass, and large ones wait for each other, most of them still with their sender.
 */
export class LargeAnswers {
  /** So many bytes of each are read at once. */
  readonly beginning: number;
  #free: number;
  readonly #waiting = new Set<() => void>();

  /** @param atATime how many are read to their end at a time */
  constructor(beginning: number, atATime: number) {
    this.beginning = beginning;
    this.#free = atATime;
  }

  /** Waits for a turn, which has to be given back. @throws the signal's reason where it is aborted before */
  async take(signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (this.#free > 0) {
      this.#free -= 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const giveUp = (): void => {
      this.#waiting.delete(resolve);
      reject(signal?.reason);
    };
    this.#waiting.add(resolve);
    signal?.addEventListener('abort', giveUp, { once: true });
    await promise.finally(() => signal?.removeEventListener('abort', giveUp));
  }

  give(): void {
    const [next] = this.#waiting;
    if (next === undefined) {
      this.#free += 1;
      return;
    }
    this.#waiting.delete(next);
    next();
  }
}
