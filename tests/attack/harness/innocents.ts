import { setTimeout as sleep } from 'node:timers/promises';

/** The results of ordinary creations that must succeed during an attack. */
export interface Innocents {
  count: number;
  failed: string[];
  /** How many milliseconds each creation took, with all of its retries. */
  took: number[];
  retries: number;
}

export interface Schedule {
  count: number;
  /** The creations begin at even intervals over this many milliseconds. */
  over: number;
}

/** Begins ordinary creations at even intervals, without waiting for earlier ones to end. */
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

/** The 99th percentile. */
export const p99 = (values: number[]): number =>
  values.toSorted((one, other) => one - other)[Math.ceil(values.length * 0.99) - 1] ?? Number.NaN;
