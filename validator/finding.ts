import { type Reason, reasons } from './reasons.ts';
import type { Family } from './shared/addresses.ts';
import type { CheckName } from './shared/contract.ts';

/** The result of one attempt at a check. `seen` is the text after "saw" in messages. */
export type Finding = Passed | Failed;

/** The network is as expected. */
export interface Passed {
  passed: true;
  seen: string;
  /** What was not checked, and why. */
  note?: string;
  /** `roundTrip` got no answer from the node, and the profile does not require one. */
  wayNotShown?: true;
  /** Another attempt may find out more, so this finding counts only when the time of the check is over. */
  preliminary?: true;
}

/** The network is not as expected, or cannot be checked. */
export interface Failed {
  passed: false;
  reason: Reason;
  seen: string;
  /** No further attempt can change the finding. */
  final?: true;
}

/** The last finding of a check, for an address family if the check depends on it. */
export interface Result {
  profile: string;
  check: CheckName;
  family?: Family;
  expected: string;
  finding: Finding;
}

/** A finding of a check that passed. @param note what was not checked, and why the check passed nevertheless */
export function passed(seen: string, note?: string): Passed {
  return { passed: true, seen, ...(note !== undefined && { note }) };
}

export function failed(reason: Reason, seen: string): Failed {
  return { passed: false, reason, seen };
}

/** Combines failures into one, with the most informative reason, which is the first in {@link reasons}. */
export function mostTelling(failures: Failed[]): Failed {
  const order = Object.keys(reasons);
  const ranks = failures.map(({ reason }) => order.indexOf(reason));
  const same = failures.filter((_, index) => ranks[index] === Math.min(...ranks));
  return failed(same[0]?.reason ?? 'unexpected', [...new Set(same.map(({ seen }) => seen))].join('; '));
}

/** The kernel's view of the network cannot be read. */
export class NotReadable extends Error {}
