/** Lets through so many a second, and some more at once after a rest. Pure: the time is handed in. */
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

  /** How many may pass now. @param now milliseconds of a clock that does not go back */
  left(now: number): number {
    const since = Math.max(0, now - this.#at);
    this.#left = Math.min(this.#burst, this.#left + (since / 1000) * this.#perSecond);
    this.#at = Math.max(this.#at, now);
    return Math.floor(this.#left);
  }

  take(count: number): void {
    this.#left -= count;
  }
}
