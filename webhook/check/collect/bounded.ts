import type { Keeping } from '../../kubernetes/reflector/source.ts';

/**
 * Keeps so many objects at most, whoever made them.
 *
 * @param rank where there are too many, those with the largest rank are dropped first
 */
export function atMost<T>(count: number, rank: (object: T) => number = () => 0): Keeping<T> {
  const max = { count, bytes: Number.POSITIVE_INFINITY };
  return { max, mostOfNamespace: max, weigh: () => 0, rank };
}
