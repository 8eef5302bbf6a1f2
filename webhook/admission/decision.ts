import type { Operation } from 'fast-json-patch';

/** What a webhook decided about a request. */
export interface AdmissionDecision<Outcome extends string = string, Reason extends string = string> {
  /** `refused`, or a word for something that is allowed. */
  outcome: Outcome;
  /** Why, as a word or an error code. */
  reason: Reason;
  /** A profile, or profiles combined with dots, that the configuration has: the label of a metric. */
  profile?: string;
  /** The profiles that promise something to the pod. */
  profiles: string[];
  /** The patch; a validating webhook has none. */
  operations: Operation[];
  /** For the user who sent the request. */
  warnings: string[];
  /** The text of a refusal, which ends with an error code. */
  message?: string;
}

/** The profiles that a decision is about. */
export type ProfileScope = Pick<AdmissionDecision, 'profile' | 'profiles'>;

/** A decision: about no profile, with no patch and no warnings, except what `more` says. */
export function decision<const Outcome extends string, const Reason extends string>(
  outcome: Outcome,
  reason: Reason,
  more: Partial<Omit<AdmissionDecision, 'outcome' | 'reason'>> = {},
): AdmissionDecision<Outcome, Reason> {
  return { outcome, reason, profiles: [], operations: [], warnings: [], ...more };
}
