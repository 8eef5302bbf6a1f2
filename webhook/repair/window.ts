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

  /** How many in the last `within` milliseconds. */
  count(now: number, within = this.#length): number {
    this.#forget(now);
    let count = 0;
    for (let index = this.#times.length - 1; index >= 0; index -= 1) {
      if (now - (this.#times[index] ?? 0) >= within) break;
      count += 1;
    }
    return count;
  }

  /** When fewer than `max` will count, if none is added; `now` where fewer do. */
  opensAt(max: number, now: number, within = this.#length): number {
    if (this.count(now, within) < max) return now;
    const last = this.#times[this.#times.length - max];
    return last === undefined ? Number.POSITIVE_INFINITY : last + within;
  }

  copy(): Window {
    const copy = new Window(this.#length);
    copy.#times = [...this.#times];
    return copy;
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
