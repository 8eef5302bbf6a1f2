/** How long decisions of the gate took, as its histogram has it. */
export class Durations {
  /** Upper bounds in seconds, and how many decisions took no longer. */
  readonly #counts: [number, number][];

  constructor(counts: [number, number][]) {
    this.#counts = counts;
  }

  /** Those that came after some others. */
  since(before: Durations): Durations {
    return new Durations(
      this.#counts.map(([bound, count], index) => [bound, count - (before.#counts[index]?.[1] ?? 0)]),
    );
  }

  /** How long a share of them took at most, in seconds: evenly spread within its bucket, as Prometheus has it. */
  at(share: number): number {
    const wanted = share * (this.#counts.at(-1)?.[1] ?? 0);
    let [low, fewer] = [0, 0];
    for (const [bound, count] of this.#counts) {
      if (count >= wanted) return low + ((bound - low) * (wanted - fewer)) / (count - fewer);
      [low, fewer] = [bound, count];
    }
    return Number.NaN;
  }
}

/** Of all decisions of the gate since the server's start. */
export async function durationsOf(opsPort: number): Promise<Durations> {
  const text = await (await fetch(`http://127.0.0.1:${opsPort}/metrics`)).text();
  const buckets = text.matchAll(
    /^cni_gate_admission_duration_seconds_bucket\{le="(.+)",webhook="gate"\} (\d+)$/gm,
  );
  return new Durations(
    [...buckets].map(([, bound, count]) => [
      bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound),
      Number(count),
    ]),
  );
}
