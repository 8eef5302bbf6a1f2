import type { Decision } from './decide.ts';
import { type AdmissionResponse, type AdmissionReview, reviewApiVersion, reviewKind } from './review.ts';
import { fitWarnings } from './warnings.ts';

/** The review that answers a request. */
export function respond(uid: string, decision: Decision): AdmissionReview {
  const warnings = fitWarnings(decision.warnings);
  const response: AdmissionResponse = {
    uid,
    allowed: decision.outcome !== 'refused',
    ...(decision.operations.length > 0 && {
      patchType: 'JSONPatch',
      patch: Buffer.from(JSON.stringify(decision.operations)).toString('base64'),
    }),
    ...(decision.message !== undefined && {
      status: { code: 403, reason: 'Forbidden', message: decision.message },
    }),
    ...(warnings.length > 0 && { warnings }),
    auditAnnotations: auditOf(decision),
  };
  return { apiVersion: reviewApiVersion, kind: reviewKind, response };
}

function auditOf(decision: Decision): Record<string, string> {
  return {
    outcome: decision.outcome,
    reason: decision.reason,
    ...(decision.profiles.length > 0 && { profiles: decision.profiles.join('.') }),
  };
}
