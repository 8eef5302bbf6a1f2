import { ClusterError } from '../errors.ts';
import { Garbage } from './source.ts';

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

export type Action = 'list' | 'watch';

/** What came of a list or a watch. */
export type Outcome =
  | { type: 'listed' }
  /** The server ended the watch when it was asked to. */
  | { type: 'ended' }
  /** The server ended the watch at once, without a word. */
  | { type: 'dropped' }
  /** The watch was left because something else is to be known. */
  | { type: 'stale' }
  /** The watch did not end when it should have: its connection is dead, or bytes are swallowed. */
  | { type: 'silent'; served: boolean }
  /** `served`: it had worked before. */
  | { type: 'failed'; during: Action; served: boolean; error: unknown };

/** What is remembered from outcome to outcome. */
export interface Progress {
  /** Failures in a row. */
  failures: number;
  /** Versions in a row that were too old by the time they were watched. */
  expiries: number;
}

/** Why a list or watch ended: the value of a metric's label. */
export type Reason = 'listed' | 'ended' | 'stale' | 'dropped' | 'silent' | 'expired' | 'garbage' | 'failed';

export interface Step {
  action: Action;
  /** Milliseconds to wait before it. */
  wait: number;
  reason: Reason;
  progress: Progress;
}

export const beginning: Progress = { failures: 0, expiries: 0 };

/**
 * After so many failures in a row to reach the API server, which takes some seconds, everything is listed anew: it may
 * have come back with a database that was restored from a backup, and a version from the future is watched without a
 * word (seen with v1.36).
 */
const lostAfter = 4;

/** What to do after an outcome. Nothing ends it: the step after a failure is another try. */
export function nextStep(progress: Progress, outcome: Outcome, timing: Timing, random: number): Step {
  const { failures, expiries } = progress;
  switch (outcome.type) {
    case 'listed':
      // the failures stay: a list that works before a watch that does not must not go round without a wait
      return { action: 'watch', wait: 0, reason: 'listed', progress };
    case 'ended':
      return { action: 'watch', wait: 0, reason: 'ended', progress: beginning };
    case 'stale':
      return { action: 'list', wait: 0, reason: 'stale', progress };
    case 'dropped':
    case 'silent': {
      const silent = outcome.type === 'silent';
      const count = (silent && outcome.served ? 0 : failures) + 1;
      // after silence the next watch goes over a new connection: there is nothing to wait for the first time
      const wait = silent && count === 1 ? 0 : waitAfter(count, timing, random);
      const action = count < lostAfter ? 'watch' : 'list';
      return { action, wait, reason: outcome.type, progress: { failures: count, expiries } };
    }
    case 'failed': {
      const { during, error, served } = outcome;
      const status = error instanceof ClusterError ? error.status : undefined;
      if (status === 410) {
        // an answer, so the API server is there: only what was asked for too late again is waited for longer
        const late = (served ? 0 : expiries) + 1;
        const wait = waitAfter(late, timing, random);
        return { action: 'list', wait, reason: 'expired', progress: { failures: 0, expiries: late } };
      }
      const count = (served ? 0 : failures) + 1;
      const retryAfter = error instanceof ClusterError ? error.retryAfter : undefined;
      const wait = waitAfter(count, timing, random, retryAfter);
      const garbage = error instanceof Garbage;
      // 400: not a version that this server knows, as after its database was replaced
      const lost = status === 400 || (status === undefined && count >= lostAfter);
      return {
        action: garbage || lost ? 'list' : during,
        wait,
        reason: garbage ? 'garbage' : 'failed',
        progress: { failures: count, expiries: served ? 0 : expiries },
      };
    }
  }
}

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
