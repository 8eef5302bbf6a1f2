/** Limits a rate: tokens per second, and a burst of tokens after a pause. The caller provides the time. */
export class TokenBucket {
  readonly #perSecond: number;
  readonly #burst: number;
  #left: number;
  #at = Number.NEGATIVE_INFINITY;

  constructor(perSecond: number, burst: number) {
    this.#perSecond = perSecond;
    this.#burst = burst;
    this.#left = burst;
  }

  /** How many whole tokens are left now. @param now milliseconds of a monotonic clock */
  left(now: number): number {
    const since = Math.max(0, now - this.#at);
    this.#left = Math.min(this.#burst, this.#left + (since / 1000) * this.#perSecond);
    this.#at = Math.max(this.#at, now);
    return Math.floor(this.#left);
  }

  /** Whether the bucket is full, like a new one. @param now milliseconds of a monotonic clock */
  isFull(now: number): boolean {
    return this.left(now) >= this.#burst;
  }

  /** Half of the tokens of a full bucket, rounded down. */
  get half(): number {
    return Math.floor(this.#burst / 2);
  }

  take(count: number): void {
    this.#left -= count;
  }
}
