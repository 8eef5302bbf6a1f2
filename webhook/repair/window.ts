/** Milliseconds. Budgets are for each minute. */
export const minute = 60_000;

/** When something happened: counts it over the last time. Times are milliseconds of a monotonic clock. */
export class Window {
  readonly #length: number;
  /** Ascending. */
  #times: number[] = [];

  /** @param length how long an entry counts */
  constructor(length: number) {
    this.#length = length;
  }

  add(now: number): void {
    this.#forget(now);
    this.#times.push(now);
  }

  /** How many in the last `length` milliseconds. */
  count(now: number): number {
    this.#forget(now);
    return this.#times.length;
  }

  /** When fewer than `max` are left, if none is added; `now` where fewer are. */
  opensAt(max: number, now: number): number {
    this.#forget(now);
    if (max <= 0) return Number.POSITIVE_INFINITY;
    const last = this.#times.at(-max);
    return last === undefined ? now : Math.max(now, last + this.#length);
  }

  clear(): void {
    this.#times = [];
  }

  #forget(now: number): void {
    const first = this.#times[0];
    if (first !== undefined && now - first >= this.#length) {
      this.#times = this.#times.filter((time) => now - time < this.#length);
    }
  }
}
