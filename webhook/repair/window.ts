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

  /** When fewer than `max` are left of the last `within` milliseconds, if none is added; `now` where fewer are. */
  opensAt(max: number, now: number, within = this.#length): number {
    this.#forget(now);
    if (max <= 0) return Number.POSITIVE_INFINITY;
    const last = this.#times.at(-max);
    return last === undefined ? now : Math.max(now, last + within);
  }

  /** All that count, ascending. */
  times(now: number): readonly number[] {
    this.#forget(now);
    return this.#times;
  }

  copy(): Window {
    const copy = new Window(this.#length);
    copy.#times = [...this.#times];
    return copy;
  }

  /** @returns whether there were any up to this time */
  clearUpTo(time: number): boolean {
    const before = this.#times.length;
    this.#times = this.#times.filter((one) => one > time);
    return this.#times.length < before;
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
