import { ClusterError } from '../errors.ts';
import { type Timing, waitAfter } from './timing.ts';
import { Garbage } from './watch-event.ts';

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
