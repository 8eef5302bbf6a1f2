/** Answers that are remembered for a while, and forgotten when they are too old. */
export class TtlCache<T> {
  readonly #answers = new Map<string, { value: T; until: number }>();

  /** @param now milliseconds of any one clock */
  get(key: string, now: number): T | undefined {
    const known = this.#answers.get(key);
    if (known === undefined || known.until <= now) return undefined;
    return known.value;
  }

  set(key: string, value: T, until: number): void {
    this.#answers.set(key, { value, until });
  }

  /** Drops what is too old. */
  sweep(now: number): void {
    for (const [key, { until }] of this.#answers) if (until <= now) this.#answers.delete(key);
  }
}
