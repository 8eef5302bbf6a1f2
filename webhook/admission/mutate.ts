import type { Operation } from 'fast-json-patch';
import type { NamespaceFacts } from '../core/facts/namespace.ts';
import type { Pod } from '../core/facts/pod.ts';
import { type EarlierCall, earlierCall, reasonText, statusText } from '../core/facts/status-annotation.ts';
import type { Policy } from '../core/profiles/policy.ts';
import type { Profile } from '../core/profiles/types.ts';
import { applyOnce, patchFor, refusalPatch, removalPatch } from '../core/proof/patch.ts';
import { planFor } from '../core/proof/plan.ts';
import {
  applies,
  type Exemption,
  exemption,
  isUntouchable,
  type Selection,
  select,
} from '../core/proof/selection.ts';
import { CniGateError, type ErrorCode } from '../lib/errors.ts';
import { profileLabel } from '../lib/names.ts';
import { type AdmissionDecision, decision, respond } from './respond.ts';
import { type AdmissionReview, decodePodRequest, type PodRequest } from './review.ts';

/*
 * The steps for a pod: facts (what an earlier call changed), selection, plan, container, patch. The API server may
 * call twice for a pod (`reinvocationPolicy: IfNeeded`); the second call sees the changes of all webhooks.
 */

/**
 * The result of a request. `current`: the pod needs no change. `warned`, only with `proof.mode: warn`: the pod gets a
 * warning instead of a refusal, or instead of a network's own validator.
 */
export type Outcome = 'injected' | 'updated' | 'current' | 'removed' | 'skipped' | 'refused' | 'warned';

/** The reason for an outcome: an exemption, the code of an error, or `profile-applies`. */
export type Reason = Exemption | ErrorCode | 'profile-applies';

/** The decision about a pod. Its `profile` is the label's value, but only if the value names existing profiles. */
export type Decision = AdmissionDecision<Outcome, Reason>;

/** What a decision depends on besides the request. */
export interface MutateContext {
  policy: Policy;
  namespaces: {
    /** Undefined if the namespace is unknown. */
    facts(name: string): NamespaceFacts | undefined;
  };
  /** The namespace of cni-gate. */
  ownNamespace?: string | undefined;
}

export interface Admission {
  request: PodRequest;
  decision: Decision;
  review: AdmissionReview;
}

/**
 * Answers the body of an admission call for a pod. If the patch does not apply to the pod, the answer is a refusal.
 * @param body parsed JSON; the pod in it is changed in place
 * @throws CniGateError if the body is not a review of a pod; the answer contains every other error
 */
export function mutate(body: unknown, context: MutateContext): Admission {
  const request = decodePodRequest(body);
  const decided = decide(request, context);
  let answered = decided;
  try {
    if (decided.operations.length > 0) applyOnce(request.pod, decided.operations);
  } catch (error) {
    if (!(error instanceof CniGateError)) throw error;
    const { profile } = decided;
    answered = { ...refuse(context.policy, error), ...(profile !== undefined && { profile }) };
  }
  return { request, decision: answered, review: respond(request.uid, answered) };
}

function decide(request: PodRequest, { policy, namespaces, ownNamespace }: MutateContext): Decision {
  const { pod } = request;
  const exempt = exemption(request, policy.daemonSets, ownNamespace);
  // the pod gets no patch, so even the container of an earlier call remains
  if (exempt !== undefined && isUntouchable(exempt)) return decision('skipped', exempt);
  const earlier = earlierCall(pod);
  // exempt pods do not depend on their namespace's labels, because a cluster needs such pods to recover
  if (exempt !== undefined) {
    // the policy that checks the final pod does not know DaemonSets of custom profiles: it reads this text
    const status = exempt === 'network-daemonset' ? reasonText(exempt) : undefined;
    return leave(earlier, exempt, removalPatch(pod, earlier, status));
  }
  try {
    const namespace = namespaces.facts(request.namespace);
    if (namespace === undefined) throw namespaceUnknown(request.namespace);
    const selection = select(pod, earlier, namespace.labels, policy);
    if (typeof selection === 'string') return leave(earlier, selection, removalPatch(pod, earlier));
    return prove(request, earlier, selection, namespace, policy);
  } catch (error) {
    if (error instanceof CniGateError) return refuse(policy, error, pod);
    throw error;
  }
}

const namespaceUnknown = (name: string): CniGateError =>
  new CniGateError(
    'CNI_GATE_NAMESPACE_UNKNOWN',
    `the labels of namespace "${name}" are not known, so its profile is not known either`,
  );

/** @throws CniGateError if the proof is not possible for the pod */
function prove(
  request: PodRequest,
  earlier: EarlierCall,
  selection: Selection,
  namespace: NamespaceFacts,
  policy: Policy,
): Decision {
  const { pod } = request;
  const { proof } = policy;
  const { profile, profiles, forbidden } = selection;
  const warnings =
    forbidden === undefined
      ? []
      : [
          `label ${profileLabel}: ${forbidden} is not allowed (proof.allowOptOut), so profile ${profile} applies`,
        ];
  if (profiles.length === 0) {
    const operations = removalPatch(pod, earlier, statusText(selection));
    return leave(earlier, 'no-profile-applies', operations, { profile, warnings });
  }
  const plan = planFor({ pod, namespace }, profiles, proof);
  const operations = patchFor(pod, earlier, selection, plan, proof);
  const unnamed = plan.witness ? unnamedMesh(pod, profiles, namespace, policy) : [];
  const changed = earlier.container >= 0 ? 'updated' : 'injected';
  return decision(
    plan.refuses ? 'warned' : operations.length === 0 ? 'current' : changed,
    'profile-applies',
    {
      profile,
      profiles: profiles.map(({ name }) => name),
      operations,
      warnings: [...warnings, ...plan.warnings, ...unnamed],
    },
  );
}

/** Warns if a mesh's proxy gets the kubelet's connections, but the label does not name the mesh's profile. */
function unnamedMesh(pod: Pod, profiles: Profile[], { labels }: NamespaceFacts, policy: Policy): string[] {
  const hasInbound = ({ proof }: Profile): boolean => proof.inbound !== undefined;
  const all = [...policy.profiles.values()];
  const mesh = all.find((it) => hasInbound(it) && applies(it, pod, labels));
  if (mesh === undefined || profiles.some(hasInbound)) return [];
  return [
    `the proxy of profile "${mesh.name}" gets the kubelet's connections: the label must name this profile, too`,
  ];
}

/** Leaves the pod without a proof, and removes what an earlier call injected. */
const leave = (
  { injected }: EarlierCall,
  reason: Exemption,
  operations: Operation[],
  more: { profile?: string; warnings?: string[] } = {},
): Decision =>
  decision(injected && operations.length > 0 ? 'removed' : 'skipped', reason, { operations, ...more });

/**
 * Refuses a pod, or warns if `proof.mode` is `warn`.
 * @param pod gets an annotation with the warning, so that the policy that checks the final pod accepts it
 */
function refuse(policy: Policy, { code, message }: CniGateError, pod?: Pod): Decision {
  if (policy.proof.mode === 'enforce') {
    return decision('refused', code, { message: `${message} (${code})` });
  }
  // the code comes first: a warning may be cut off at its end, and users search for the code
  const warnings = [`${code}: ${message}`];
  return decision('warned', code, { warnings, operations: pod ? refusalPatch(pod, code) : [] });
}
