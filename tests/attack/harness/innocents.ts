import { setTimeout as sleep } from 'node:timers/promises';

/** Ordinary creations that must succeed during an attack. */
export interface Innocents {
  count: number;
  failed: string[];
  /** Milliseconds that each took, with all its tries. */
  took: number[];
  retries: number;
}

export interface Schedule {
  count: number;
  /** Milliseconds over which they begin, evenly. */
  over: number;
}

/** Begins ordinary creations at even intervals, whether those before them have ended or not. */
export async function innocents(
  { count, over }: Schedule,
  create: (index: number, retried: () => void) => Promise<void>,
): Promise<Innocents> {
  const result: Innocents = { count, failed: [], took: [], retries: 0 };
  const begun = performance.now();
  const retried = (): void => {
    result.retries++;
  };
  const one = async (index: number): Promise<void> => {
    await sleep(Math.max(0, begun + (over * index) / count - performance.now()));
    const start = performance.now();
    try {
      await create(index, retried);
    } catch (error) {
      result.failed.push(error instanceof Error ? error.message : String(error));
    }
    result.took.push(performance.now() - start);
  };
  await Promise.all(Array.from({ length: count }, (_, index) => one(index)));
  return result;
}

/** The value below which 99 of 100 are. */
export const p99 = (values: number[]): number =>
  values.toSorted((one, other) => one - other)[Math.ceil(values.length * 0.99) - 1] ?? Number.NaN;
