import type { Keeping } from '../../kubernetes/reflector/source.ts';

/** Keeps so many objects at most, whoever made them. */
export function atMost<T>(count: number): Keeping<T> {
  const max = { count, bytes: Number.POSITIVE_INFINITY };
  return { max, mostOfNamespace: max, weigh: () => 0, rank: () => 0 };
}
