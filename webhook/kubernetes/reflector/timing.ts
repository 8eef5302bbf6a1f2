/** How long things may take, in milliseconds. */
export interface Timing {
  /** A watch is asked to end after this long, plus up to a third at random: see docs/decisions/watch-timeouts.md. */
  watch: number;
  /** How much later than asked for a watch may end before its connection counts as dead. */
  grace: number;
  /** Without a byte, until an answer begins or goes on. */
  answer: number;
  /** The first wait after a failure; each further one is twice as long. */
  backoff: number;
  longestBackoff: number;
}

export const defaultTiming: Timing = {
  watch: 15_000,
  grace: 3000,
  answer: 10_000,
  backoff: 250,
  longestBackoff: 8000,
};

/** What the API server may ask for by `Retry-After` is followed up to here. */
const longestRetryAfter = 30_000;

/**
 * How long to wait before the next try: twice as long after each failure, between half of it and the whole, so that
 * those who failed together do not come back together.
 *
 * @param failures in a row, this one included
 * @param random between 0 and 1
 */
export function waitAfter(
  failures: number,
  { backoff, longestBackoff }: Timing,
  random: number,
  retryAfter = 0,
): number {
  const longest = Math.min(backoff * 2 ** (failures - 1), longestBackoff);
  return Math.max(longest * (0.5 + random / 2), Math.min(retryAfter, longestRetryAfter));
}

/** For how long to ask for a watch, in whole seconds as the API takes it, at least one. */
export function watchSeconds({ watch }: Timing, random: number): number {
  return Math.max(1, Math.round((watch * (1 + random / 3)) / 1000));
}
