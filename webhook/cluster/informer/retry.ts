import { ClusterError } from '../errors.ts';

/** How long things may take, in milliseconds. */
export interface Timing {
  /** A watch is asked to end after this long, plus up to a third at random: see docs/decisions/kubernetes-client.md. */
  watch: number;
  /** How much later than asked for a watch may end before its connection counts as dead. */
  grace: number;
  /** How long an answer may be silent before it begins, and between two chunks. */
  answer: number;
  /** The wait after the first failure; each further one doubles it. */
  backoff: number;
  longestBackoff: number;
}

/** The timing in production; tests use shorter times. */
export const defaultTiming: Timing = {
  watch: 15_000,
  grace: 3000,
  answer: 10_000,
  backoff: 250,
  longestBackoff: 8000,
};

/** What an informer does. */
export type Action = 'list' | 'watch';

/**
 * Why a list or a watch ended: the value of a metric's label.
 * - `ended`: the server ended the watch at the requested time;
 * - `stale`: everything is to be listed again, because other objects matter now;
 * - `dropped`: the server ended the watch at once, without an event;
 * - `silent`: the watch did not end in time: its connection is dead, or bytes are lost on the way;
 * - `expired`: the version is too old to watch from;
 * - `garbage`: the answer is not valid, and what was sent before may be wrong as well.
 */
export type Reason = 'listed' | 'ended' | 'stale' | 'dropped' | 'silent' | 'expired' | 'garbage' | 'failed';

/** An answer of the API server that is not valid. What it sent before may be wrong as well. */
export class Garbage extends Error {}

/** The end of a list or a watch. */
export interface End {
  reason: Reason;
  /** Whether it worked before it failed. */
  served?: boolean;
  error?: unknown;
}

/** The end of a list or a watch that an error ended. */
export function endBy(error: unknown, served: boolean): End {
  if (error instanceof ClusterError && error.status === 410) return { reason: 'expired', served, error };
  return { reason: error instanceof Garbage ? 'garbage' : 'failed', served, error };
}

/** Whether a list or a watch ended as it should. */
export const isRegular = ({ reason }: End): boolean => ['listed', 'ended', 'stale'].includes(reason);

/**
 * After this many failures in a row to reach the API server, which takes some seconds, everything is listed again: the
 * API server may come back with a database that was restored from a backup, and it accepts a watch from a version that
 * does not exist yet (seen with v1.36).
 */
const lostAfter = 4;

/** A `Retry-After` of the API server is followed up to this. */
const longestRetryAfter = 30_000;

/** Decides what an informer does next, and when. It never gives up. */
export class Retry {
  readonly #timing: Timing;
  readonly #random: () => number;
  #failures = 0;

  /** @param random between 0 and 1 */
  constructor(timing: Timing, random: () => number) {
    this.#timing = timing;
    this.#random = random;
  }

  /** @returns the next action, and the milliseconds to wait before it */
  next(during: Action, end: End): { action: Action; wait: number } {
    const { reason, served = false, error } = end;
    if (isRegular(end)) {
      // a list that works before a watch that fails must not loop without a wait
      if (reason === 'ended') this.#failures = 0;
      return { action: reason === 'stale' ? 'list' : 'watch', wait: 0 };
    }
    this.#failures = (served ? 0 : this.#failures) + 1;
    // the watch after a silent one has a new connection: the first time there is no reason to wait
    const wait = reason === 'silent' && this.#failures === 1 ? 0 : this.#wait(error);
    return { action: this.#trustsVersion(reason, error) ? during : 'list', wait };
  }

  /** Whether a watch can go on from the last version. */
  #trustsVersion(reason: Reason, error: unknown): boolean {
    if (reason === 'expired' || reason === 'garbage') return false;
    const status = error instanceof ClusterError ? error.status : undefined;
    // 400: the server does not know the version, as after its database was replaced
    return status === undefined ? this.#failures < lostAfter : status !== 400;
  }

  /**
   * Twice as long after each failure, between half of it and the whole, so that replicas that failed together do not come
   * back together.
   */
  #wait(error: unknown): number {
    const { backoff, longestBackoff } = this.#timing;
    const longest = Math.min(backoff * 2 ** (this.#failures - 1), longestBackoff);
    const retryAfter = (error instanceof ClusterError && error.retryAfter) || 0;
    return Math.max(longest * (0.5 + this.#random() / 2), Math.min(retryAfter, longestRetryAfter));
  }
}
