import { applyOnce } from './apply.ts';
import { type Decision, type DecisionContext, decide } from './decide.ts';
import { respond } from './respond.ts';
import type { AdmissionReview, PodRequest } from './review.ts';

export interface Admission {
  decision: Decision;
  review: AdmissionReview;
}

/**
 * The way of a request once it is decoded: decide, apply the patch once, answer. The request's pod is changed in
 * place and must not be used for another decision.
 */
export function admit(request: PodRequest, context: DecisionContext): Admission {
  const decision = applyOnce(decide(request, context), request.pod, context.policy);
  return { decision, review: respond(request.uid, decision) };
}
