import { ClusterError } from '../errors.ts';
import { Garbage } from './source.ts';

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

/** What a reflector does. */
export type Action = 'list' | 'watch';

/** How a list or a watch ended. */
export type Outcome =
  | { type: 'listed' }
  /** The server ended the watch at the requested time. */
  | { type: 'ended' }
  /** The server ended the watch at once, without an event. */
  | { type: 'dropped' }
  /** The watch was left because other objects matter now. */
  | { type: 'stale' }
  /** The watch did not end in time: its connection is dead, or bytes are lost on the way. */
  | { type: 'silent'; served: boolean }
  /** `served`: it had worked before. */
  | { type: 'failed'; during: Action; served: boolean; error: unknown };

/** State that is kept from one outcome to the next. */
export interface Progress {
  /** Failures in a row. */
  failures: number;
  /** Versions in a row that were too old by the time they were watched. */
  expiries: number;
}

/** Why a list or watch ended: the value of a metric's label. */
export type Reason = 'listed' | 'ended' | 'stale' | 'dropped' | 'silent' | 'expired' | 'garbage' | 'failed';

/** The next action. */
export interface Step {
  action: Action;
  /** Milliseconds to wait before it. */
  wait: number;
  reason: Reason;
  progress: Progress;
}

/** The state before the first list. */
export const beginning: Progress = { failures: 0, expiries: 0 };

/**
 * After this many failures in a row to reach the API server, which takes some seconds, everything is listed again: the
 * API server may come back with a database that was restored from a backup, and it accepts a watch from a version that
 * does not exist yet (seen with v1.36).
 */
const lostAfter = 4;

/** What to do after an outcome. There is no last step: a failure is followed by another attempt. */
export function nextStep(progress: Progress, outcome: Outcome, timing: Timing, random: number): Step {
  const { failures, expiries } = progress;
  switch (outcome.type) {
    case 'listed':
      // the failures stay: a list that works before a watch that fails must not loop without a wait
      return { action: 'watch', wait: 0, reason: 'listed', progress };
    case 'ended':
      return { action: 'watch', wait: 0, reason: 'ended', progress: beginning };
    case 'stale':
      return { action: 'list', wait: 0, reason: 'stale', progress };
    case 'dropped':
    case 'silent': {
      const silent = outcome.type === 'silent';
      const count = (silent && outcome.served ? 0 : failures) + 1;
      // after silence the next watch uses a new connection: the first time there is no reason to wait
      const wait = silent && count === 1 ? 0 : waitAfter(count, timing, random);
      const action = count < lostAfter ? 'watch' : 'list';
      return { action, wait, reason: outcome.type, progress: { failures: count, expiries } };
    }
    case 'failed': {
      const { during, error, served } = outcome;
      const status = error instanceof ClusterError ? error.status : undefined;
      if (status === 410) {
        // it is an answer, so the API server is there: only a repeated expiry lengthens the wait
        const late = (served ? 0 : expiries) + 1;
        const wait = waitAfter(late, timing, random);
        return { action: 'list', wait, reason: 'expired', progress: { failures: 0, expiries: late } };
      }
      const count = (served ? 0 : failures) + 1;
      const retryAfter = error instanceof ClusterError ? error.retryAfter : undefined;
      const wait = waitAfter(count, timing, random, retryAfter);
      const garbage = error instanceof Garbage;
      // 400: the server does not know the version, as after its database was replaced
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

/** A `Retry-After` of the API server is followed up to this. */
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
