import { fitText, inBytes } from '../../validator/shared/fit-text.ts';
import { clean } from '../lib/clean.ts';
import type { AdmissionDecision } from './decision.ts';
import { type AdmissionResponse, type AdmissionReview, reviewApiVersion, reviewKind } from './review.ts';

/**
 * The longest text of a refusal in bytes. The scheduler writes it into an event after 97 bytes of its own, and cuts the
 * event off at 1,024 (Kubernetes `NoteLengthLimit`; `truncateMessage` of pkg/scheduler). The code at the end must stay.
 */
const longestMessage = 900;

/** The review that answers a request. */
export function respond(uid: string, decision: AdmissionDecision): AdmissionReview {
  const { operations } = decision;
  const warnings = fitWarnings(decision.warnings);
  const response: AdmissionResponse = {
    uid,
    allowed: decision.outcome !== 'refused',
    ...(operations.length > 0 && {
      patchType: 'JSONPatch',
      patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
    }),
    ...(decision.message !== undefined && {
      status: {
        code: 403,
        reason: 'Forbidden',
        message: fitText(clean(decision.message), longestMessage, inBytes),
      },
    }),
    ...(warnings.length > 0 && { warnings }),
    auditAnnotations: auditOf(decision),
  };
  return { apiVersion: reviewApiVersion, kind: reviewKind, response };
}

function auditOf(decision: AdmissionDecision): Record<string, string> {
  return {
    outcome: decision.outcome,
    reason: decision.reason,
    ...(decision.profiles.length > 0 && { profiles: decision.profiles.join('.') }),
  };
}

/**
 * The API server accepts any number of warnings, but cuts each at 256 characters if together they exceed 4,096
 * (apimachinery `pkg/util/net`, apiserver `pkg/endpoints/filters/warning.go`), and clients expect about 120.
 */
const longestWarning = 120;
const longestWarnings = 4096;

/** Shortens warnings so that the API server cuts none: one line each, and a last line that counts the rest. */
export function fitWarnings(warnings: readonly string[]): string[] {
  const fitted: string[] = [];
  let total = 0;
  const unique = [...new Set(warnings.map(fit))];
  for (const [index, text] of unique.entries()) {
    // leave room for the line that counts the rest
    if (total + Buffer.byteLength(text) > longestWarnings - longestWarning) {
      fitted.push(`and ${unique.length - index} more warnings`);
      break;
    }
    total += Buffer.byteLength(text);
    fitted.push(text);
  }
  return fitted;
}

/** One line of at most {@link longestWarning} characters. */
function fit(text: string): string {
  // runs of blanks become one, so read more than is sent
  const head = text.slice(0, 32 * longestWarning);
  const line = clean(head.replace(/[\p{Cc}\p{Cs}\s]+/gu, ' ')).trim();
  return fitText(head.length < text.length ? `${line} …` : line, longestWarning);
}
