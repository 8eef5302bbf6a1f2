import type { Operation } from 'fast-json-patch';
import { fitText, inBytes } from '../../validator/shared/fit-text.ts';
import { clean } from '../lib/clean.ts';
import { type AdmissionResponse, type AdmissionReview, reviewApiVersion, reviewKind } from './review.ts';

/** What a webhook decided about a request. */
export interface AdmissionDecision<Outcome extends string = string, Reason extends string = string> {
  /** Any value other than `refused` means that the request is allowed. */
  outcome: Outcome;
  /** An identifier of the reason, or an error code. */
  reason: Reason;
  /** A profile of the configuration, or several combined with dots: the value of a metric's label. */
  profile?: string;
  /** The profiles that apply to the pod, or that the namespace's label names. */
  profiles: string[];
  /** The patch; a validating webhook has none. */
  operations: Operation[];
  /** Texts for the user who sent the request. */
  warnings: string[];
  /** The text of a refusal, which ends with an error code. */
  message?: string;
}

export type ProfileScope = Pick<AdmissionDecision, 'profile' | 'profiles'>;

/** Makes a decision. Profiles, patch and warnings are empty unless `more` has them. */
export function decision<const Outcome extends string, const Reason extends string>(
  outcome: Outcome,
  reason: Reason,
  more: Partial<Omit<AdmissionDecision, 'outcome' | 'reason'>> = {},
): AdmissionDecision<Outcome, Reason> {
  return { outcome, reason, profiles: [], operations: [], warnings: [], ...more };
}

/**
 * The maximum length of a refusal's text, in bytes. In an event, the scheduler adds 97 bytes and truncates the text at
 * 1,024 (Kubernetes `NoteLengthLimit`; `truncateMessage` of pkg/scheduler), but the error code at the end must stay.
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
 * Clients expect warnings of up to about 120 characters. The API server truncates warnings that together exceed 4,096
 * characters (apimachinery `pkg/util/net`, apiserver `pkg/endpoints/filters/warning.go`).
 */
const longestWarning = 120;
const mostWarnings = 30;

/** Makes each warning one short line. A last line counts omitted warnings: the API server cuts off none. */
export function fitWarnings(warnings: readonly string[]): string[] {
  const unique = [...new Set(warnings.map(fit))];
  const more = unique.length - mostWarnings;
  return more > 0 ? [...unique.slice(0, mostWarnings), `and ${more} more warnings`] : unique;
}

/** One line of at most {@link longestWarning} characters. */
function fit(text: string): string {
  // takes more characters than fit, because each run of white space becomes one space
  const head = text.slice(0, 32 * longestWarning);
  const line = clean(head.replace(/[\p{Cc}\p{Cs}\s]+/gu, ' ')).trim();
  return fitText(head.length < text.length ? `${line} …` : line, longestWarning);
}
