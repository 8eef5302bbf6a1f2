import type { ErrorCode } from '../../webhook/lib/errors.ts';

/**
 * What can be wrong with the Secret or with a caBundle. The words are labels of a metric and stand in the
 * documentation.
 */
export type FaultReason =
  | 'missing'
  | 'empty'
  | 'unreadable'
  | 'mismatch'
  | 'expired'
  | 'not-yet-valid'
  | 'foreign'
  | 'names'
  | 'inconsistent'
  | 'rolled-back';

/** One thing that is wrong, for a log line. */
export interface Fault {
  /** Which part of the Secret: `authority`, `next`, `previous`, `leaf`, `bundle`, or all of it. */
  part: 'secret' | 'authority' | 'next' | 'previous' | 'leaf' | 'bundle';
  reason: FaultReason;
  code: ErrorCode;
  /** What was expected and what was seen. */
  message: string;
}
