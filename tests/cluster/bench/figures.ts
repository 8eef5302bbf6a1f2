/** Half, the slowest percent, and how many there were. */
export interface Spread {
  p50: number;
  p99: number;
  count: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN;
  return { p50: at(0.5), p99: at(0.99), count: values.length };
}
