import type { Operation } from 'fast-json-patch';
import { fitText, inBytes } from '../../validator/shared/fit-text.ts';
import { clean } from '../lib/clean.ts';
import { type AdmissionResponse, type AdmissionReview, reviewApiVersion, reviewKind } from './review.ts';

/** What a webhook decided about a request. */
export interface AdmissionDecision<Outcome extends string = string, Reason extends string = string> {
  /** `refused`; every other value means that the request is allowed. */
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

export type ProfileScope = Pick<AdmissionDecision, 'profile' | 'profiles'>;

/** A decision: about no profile, with no patch and no warnings, except what `more` says. */
export function decision<const Outcome extends string, const Reason extends string>(
  outcome: Outcome,
  reason: Reason,
  more: Partial<Omit<AdmissionDecision, 'outcome' | 'reason'>> = {},
): AdmissionDecision<Outcome, Reason> {
  return { outcome, reason, profiles: [], operations: [], warnings: [], ...more };
}

/**
 * The longest text of a refusal in bytes. The scheduler writes it into an event after 97 bytes of its own, and cuts the
 * event off at 1,024 (Kubernetes `NoteLengthLimit`; `truncateMessage` of pkg/scheduler). The code at the end must stay.
 */
const longestMessage = 900;

export function respond(uid: string, decision: AdmissionDecision): AdmissionReview {
  const { outcome, reason, profiles, operations, message } = decision;
  const warnings = fitWarnings(decision.warnings);
  const response: AdmissionResponse = {
    uid,
    allowed: outcome !== 'refused',
    ...(operations.length > 0 && {
      patchType: 'JSONPatch',
      patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
    }),
    ...(message !== undefined && {
      status: {
        code: 403,
        reason: 'Forbidden',
        message: fitText(clean(message), longestMessage, inBytes),
      },
    }),
    ...(warnings.length > 0 && { warnings }),
    auditAnnotations: { outcome, reason, ...(profiles.length > 0 && { profiles: profiles.join('.') }) },
  };
  return { apiVersion: reviewApiVersion, kind: reviewKind, response };
}

/**
 * Clients expect a warning of about 120 characters. The API server cuts warnings if together they exceed 4,096
 * characters (apimachinery `pkg/util/net`, apiserver `pkg/endpoints/filters/warning.go`).
 */
const longestWarning = 120;
const mostWarnings = 30;

/** Shortens warnings so that the API server cuts none: one line each, and a last line that counts the rest. */
export function fitWarnings(warnings: readonly string[]): string[] {
  const unique = [...new Set(warnings.map(fit))];
  const more = unique.length - mostWarnings;
  return more > 0 ? [...unique.slice(0, mostWarnings), `and ${more} more warnings`] : unique;
}

/** One line of at most {@link longestWarning} characters. */
function fit(text: string): string {
  // runs of blanks become one, so read more than is sent
  const head = text.slice(0, 32 * longestWarning);
  const line = clean(head.replace(/[\p{Cc}\p{Cs}\s]+/gu, ' ')).trim();
  return fitText(head.length < text.length ? `${line} …` : line, longestWarning);
}
