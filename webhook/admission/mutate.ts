import type { Policy } from '../config/policy.ts';
import { CniGateError } from '../errors.ts';
import { type Admission, admit } from './admit.ts';
import { refuse } from './decide.ts';
import { decodePodRequest } from './decode.ts';
import { exemption } from './exempt.ts';
import type { NamespaceFacts, Namespaces } from './namespaces.ts';
import { respond } from './respond.ts';
import type { PodRequest } from './review.ts';

/** What `/mutate` works with. The policy is read anew for each request, as a reload replaces it. */
export interface MutateContext {
  policy: Policy;
  namespaces: Namespaces;
  ownNamespace?: string | undefined;
}

export interface Mutation extends Admission {
  request: PodRequest;
}

/**
 * Answers the body of an admission call about a pod: what the server does for `/mutate`, and `review` without one.
 *
 * @param body parsed JSON; the pod in it is changed in place
 * @param signal aborted when the API server is about to stop waiting
 * @throws CniGateError where the body is no review of a pod; everything else is answered
 */
export async function mutate(body: unknown, context: MutateContext, signal?: AbortSignal): Promise<Mutation> {
  const { policy, namespaces, ownNamespace } = context;
  const request = decodePodRequest(body);
  let namespace: NamespaceFacts | undefined;
  try {
    // a pod that is left alone anyway waits for nobody: a cluster comes back by such pods
    if (exemption(request, policy.daemonSets, ownNamespace) === undefined) {
      const known = namespaces.facts(request.namespace, signal);
      namespace = known instanceof Promise ? await beforeDeadline(known, signal) : known;
    }
  } catch (error) {
    if (!(error instanceof CniGateError)) throw error;
    const decision = refuse(policy, error);
    return { request, decision, review: respond(request.uid, decision) };
  }
  return { request, ...admit(request, { policy, namespace, ownNamespace }) };
}

/** The promise's value, or a refusal that is sent while the API server still listens. */
async function beforeDeadline<T>(promise: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return promise;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const expire = (): void => {
    reject(new CniGateError('CNI_GATE_DEADLINE', "the namespace's labels were not known in time"));
  };
  if (signal.aborted) expire();
  signal.addEventListener('abort', expire, { once: true });
  try {
    return await Promise.race([promise, late]);
  } finally {
    signal.removeEventListener('abort', expire);
  }
}
