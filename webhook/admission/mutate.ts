import jsonpatch from 'fast-json-patch';
import type { NamespaceFacts, Namespaces } from '../core/facts/namespace.ts';
import type { Pod } from '../core/facts/pod.ts';
import type { Policy } from '../core/profiles/policy.ts';
import { exemption } from '../core/proof/exempt.ts';
import { CniGateError, messageOf } from '../lib/errors.ts';
import { type Decision, type DecisionContext, decide, refuse } from './decide-injection.ts';
import { decodePodRequest, type PodRequest } from './decode.ts';
import { respond } from './respond.ts';
import type { AdmissionReview } from './review.ts';

/** The dependencies of `/mutate`. The policy is read for each request, because a reload replaces it. */
export interface MutateContext extends Omit<DecisionContext, 'namespace'> {
  namespaces: Namespaces;
}

/** The decision about a pod, and the answer to the API server. */
export interface Admission {
  decision: Decision;
  review: AdmissionReview;
}

/**
 * Answers the body of an admission call for a pod, for the server's `/mutate` and for `review` without a server.
 *
 * @param body parsed JSON; the pod in it is changed in place
 * @throws CniGateError if the body is not a review of a pod; everything else is answered
 */
export async function mutate(
  body: unknown,
  context: MutateContext,
): Promise<Admission & { request: PodRequest }> {
  const { policy, namespaces, ownNamespace } = context;
  const request = decodePodRequest(body);
  let namespace: NamespaceFacts | undefined;
  try {
    // an exempt pod never waits: a cluster recovers by such pods
    if (exemption(request, policy.daemonSets, ownNamespace) === undefined) {
      const known = namespaces.facts(request.namespace);
      namespace = known instanceof Promise ? await known : known;
    }
  } catch (error) {
    if (!(error instanceof CniGateError)) throw error;
    const decision = applyOnce(refuse(policy, error, request.pod), request.pod, policy);
    return { request, decision, review: respond(request.uid, decision) };
  }
  return { request, ...admit(request, { policy, namespace, ownNamespace }) };
}

/**
 * Handles a decoded request: decide, apply the patch once, answer. The request's pod is changed in place and must not
 * be used for another decision.
 */
export function admit(request: PodRequest, context: DecisionContext): Admission {
  const decision = applyOnce(decide(request, context), request.pod, context.policy);
  return { decision, review: respond(request.uid, decision) };
}

/**
 * Applies the decision's patch once, before it is sent: one that does not apply would fail the request whatever
 * the webhook's failurePolicy says. The pod is patched in place and is of no use for another decision afterwards;
 * a copy would cost as much as the whole request.
 *
 * @returns the decision, or a refusal in its place
 */
export function applyOnce(decision: Decision, pod: Pod, policy: Policy): Decision {
  if (decision.operations.length === 0) return decision;
  try {
    jsonpatch.applyPatch(pod, decision.operations, true, true);
    return decision;
  } catch (error) {
    const first = messageOf(error).split('\n')[0];
    const message = `the patch for this pod does not apply, so it was not sent: ${first}`;
    const refusal = refuse(policy, new CniGateError('CNI_GATE_PATCH_FAILED', message));
    return { ...refusal, ...(decision.profile !== undefined && { profile: decision.profile }) };
  }
}
