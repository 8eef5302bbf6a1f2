import type { Reason } from './reasons.ts';
import type { Family } from './shared/addresses.ts';
import type { CheckName } from './shared/contract.ts';

/** The result of one attempt. `seen` is the text after "saw". */
export type Finding = Passed | Failed;

/** The network is as expected. */
export interface Passed {
  passed: true;
  seen: string;
  /** What was not checked, and why. */
  note?: string;
  /** `roundTrip` got no answer, and the profile does not require one. */
  wayNotShown?: true;
  /** Another attempt may find more. It counts when the time of the check is over. */
  preliminary?: true;
}

/** The network is not as expected, or cannot be checked. */
export interface Failed {
  passed: false;
  reason: Reason;
  seen: string;
  /** No further attempt can change it. */
  final?: true;
}

/** How a check ended, for one address family if it has one. */
export interface Result {
  profile: string;
  check: CheckName;
  family?: Family;
  expected: string;
  finding: Finding;
}

/** A finding that passes. The note says what was not checked, and why that is right. */
export function passed(seen: string, note?: string): Passed {
  return { passed: true, seen, ...(note !== undefined && { note }) };
}

export function failed(reason: Reason, seen: string): Failed {
  return { passed: false, reason, seen };
}

/** What the kernel shows of the network cannot be read. */
export class NotReadable extends Error {}
