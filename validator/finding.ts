import type { Family } from './addresses.ts';
import type { CheckName, Direction } from './contract.ts';
import type { Reason } from './reasons.ts';

/** What one look at the network found. `seen` reads on after "saw". */
export type Finding = Held | Failed;

export interface Held {
  held: true;
  seen: string;
  /** What was not looked at, and why that is right. */
  note?: string;
  /** Another attempt may tell more. It counts once the time of the check is over. */
  preliminary?: true;
}

export interface Failed {
  held: false;
  reason: Reason;
  seen: string;
  /** No further look can change it. */
  final?: true;
}

/** How a check ended, for one address family where it has one. */
export interface Result {
  profile: string;
  check: CheckName;
  family?: Family;
  /** The rule that a redirect went through, if it held. */
  proves?: Direction;
  expected: string;
  finding: Finding;
}

export function held(seen: string, note?: string): Held {
  return { held: true, seen, ...(note !== undefined && { note }) };
}

export function failed(reason: Reason, seen: string): Failed {
  return { held: false, reason, seen };
}
