/** Collects how long steps took, in seconds. A step may have several times. */
export class Times {
  readonly #taken = new Map<string, number[]>();

  add(what: string, seconds: number): void {
    this.#taken.set(what, [...(this.#taken.get(what) ?? []), seconds]);
  }

  async take<T>(what: string, waiting: Promise<T>): Promise<T> {
    const since = performance.now();
    const result = await waiting;
    this.add(what, (performance.now() - since) / 1000);
    return result;
  }

  median(what: string): number {
    const taken = this.#taken.get(what)?.toSorted((a, b) => a - b) ?? [];
    const median = taken[Math.floor(taken.length / 2)];
    if (median === undefined) throw new Error(`no time was recorded for: ${what}`);
    return median;
  }

  /** A line per step: its only time, or the median with the shortest and the longest time. */
  lines(): string[] {
    return [...this.#taken].map(([what, taken]) => {
      const sorted = taken.toSorted((a, b) => a - b);
      const [least, middle, max] = [0, Math.floor(sorted.length / 2), -1].map((at) =>
        sorted.at(at)?.toFixed(2),
      );
      return sorted.length === 1
        ? `${what}: ${least} s`
        : `${what}: ${middle} s (${least} to ${max}, ${sorted.length} times)`;
    });
  }
}
