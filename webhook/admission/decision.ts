import type { Operation } from 'fast-json-patch';

/**
 * What a webhook decided about a request. The functions below build it, so that each kind of decision has the fields
 * that belong to it, and no others.
 */
export interface AdmissionDecision<Outcome extends string = string, Reason extends string = string> {
  /** `refused`, or a word for something that is allowed. */
  outcome: Outcome;
  /** Why, as a word or an error code. */
  reason: Reason;
  /** A profile, or profiles joined by dots, that the configuration has: the label of a metric. */
  profile?: string;
  /** The profiles that promise something to the pod. */
  profiles: string[];
  /** The patch; a validating webhook has none. */
  operations: Operation[];
  /** For the user who sent the request. */
  warnings: string[];
  /** The text of a refusal. */
  message?: string;
}

/** The profiles that a decision is about. */
export type ProfileScope = Pick<AdmissionDecision, 'profile' | 'profiles'>;

/** The request is allowed as it is. */
export function allowed<const Outcome extends string, const Reason extends string>(
  outcome: Outcome,
  reason: Reason,
  about: ProfileScope = { profiles: [] },
  warnings: string[] = [],
): AdmissionDecision<Outcome, Reason> {
  return { outcome, reason, ...about, operations: [], warnings };
}

/** The request is allowed with a patch, which may be empty. */
export function patched<const Outcome extends string, const Reason extends string>(
  outcome: Outcome,
  reason: Reason,
  about: ProfileScope,
  operations: Operation[],
  warnings: string[],
): AdmissionDecision<Outcome, Reason> {
  return { outcome, reason, ...about, operations, warnings };
}

/** The request is refused. @param message for the user; it ends with an error code */
export function denied<const Reason extends string>(
  reason: Reason,
  message: string,
  about: ProfileScope = { profiles: [] },
): AdmissionDecision<'refused', Reason> {
  return { outcome: 'refused', reason, ...about, operations: [], warnings: [], message };
}

/** The request is allowed although it is wrong: the warnings say how. @param operations record it on the object */
export function errored<const Reason extends string>(
  reason: Reason,
  warnings: string[],
  operations: Operation[] = [],
  about: ProfileScope = { profiles: [] },
): AdmissionDecision<'warned', Reason> {
  return { outcome: 'warned', reason, ...about, operations, warnings };
}
