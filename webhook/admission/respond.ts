import { fitText, inBytes } from '../../validator/shared/fit-text.ts';
import { clean } from '../lib/clean.ts';
import type { AdmissionDecision } from './decision.ts';
import { type AdmissionResponse, type AdmissionReview, reviewApiVersion, reviewKind } from './review.ts';
import { fitWarnings } from './warnings.ts';

/**
 * The longest text of a refusal in bytes. The scheduler writes it into an event behind 97 bytes of its own, and cuts the
 * end off at 1,024 (Kubernetes `NoteLengthLimit`; `truncateMessage` of pkg/scheduler): the code would be lost.
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
