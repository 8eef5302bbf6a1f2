import type { Operation } from 'fast-json-patch';
import type { NamespaceFacts } from '../core/facts/namespace.ts';
import type { Pod } from '../core/facts/pod.ts';
import { reasonText, statusText } from '../core/facts/status-annotation.ts';
import type { Policy } from '../core/profiles/policy.ts';
import { type Exemption, exemption, isUntouchable } from '../core/proof/exempt.ts';
import { inject } from '../core/proof/inject.ts';
import { type ProfileSelection, selectProfile } from '../core/proof/profile-selection.ts';
import { requirementsFor } from '../core/proof/proof-requirements.ts';
import {
  carriesInjection,
  injectedAt,
  recordRefusal,
  removeInjection,
} from '../core/proof/remove-injection.ts';
import { CniGateError, type ErrorCode } from '../lib/errors.ts';
import { optOutValue, profileLabel } from '../lib/names.ts';
import { type AdmissionDecision, decision } from './decision.ts';
import type { PodRequest } from './decode.ts';

/**
 * The result of a request. `warned` is a refusal that `proof.mode: warn` turned into a warning, or a pod that could
 * only be refused; `current` means that the pod needs no change.
 */
export type Outcome = 'injected' | 'updated' | 'current' | 'removed' | 'skipped' | 'refused' | 'warned';

/** Why: an exemption, the code of an error, or `profile-applies`. */
export type Reason = Exemption | ErrorCode | 'profile-applies';

/** The decision about a pod. Its profile is the label's value, once that is known to name profiles. */
export type Decision = AdmissionDecision<Outcome, Reason>;

/** The input of a decision besides the request: a snapshot, so that the decision is a pure function. */
export interface DecisionContext {
  policy: Policy;
  /** Undefined if the namespace is unknown. */
  namespace: NamespaceFacts | undefined;
  /** The namespace of cni-gate. */
  ownNamespace?: string | undefined;
}

/** Decides about one pod: whether it is exempt, which profiles were chosen, and which of them apply. */
export function decide(request: PodRequest, context: DecisionContext): Decision {
  const { policy, namespace } = context;
  const { pod } = request;
  const exempt = exemption(request, policy.daemonSets, context.ownNamespace);
  if (exempt !== undefined) return leave(pod, exempt);
  if (namespace === undefined) {
    const message = `the labels of namespace "${request.namespace}" are not known, so its profile is not known either`;
    return refuse(policy, new CniGateError('CNI_GATE_NAMESPACE_UNKNOWN', message), pod);
  }
  const selection = selectProfile(pod, namespace.labels, policy.proof.allowOptOut);
  if (selection === undefined) return leave(pod, 'not-opted-in');
  if (selection.profile === optOutValue) return leave(pod, 'opted-out');
  try {
    return prove(request, selection, policy, namespace);
  } catch (error) {
    if (error instanceof CniGateError) return refuse(policy, error, pod);
    throw error;
  }
}

/** @throws CniGateError if the profiles, or their proof, are not possible for the pod */
function prove(
  { pod, namespace: name }: PodRequest,
  selection: ProfileSelection,
  policy: Policy,
  namespace: NamespaceFacts,
): Decision {
  const { forbidden, profile } = selection;
  const warnings =
    forbidden === undefined
      ? []
      : [
          `label ${profileLabel}: ${forbidden} is not allowed (proof.allowOptOut), so profile ${profile} applies`,
        ];
  const combined = policy.combineProfiles(profile);
  const requirements = requirementsFor(pod, combined, namespace, policy.proof.mode);
  if (requirements === undefined) {
    const operations = removeInjection(pod, statusText(selection));
    return left(pod, 'no-profile-applies', operations, { profile: combined.name, warnings });
  }
  const isSeen = requirements.profiles.some(({ proof }) => proof.witness !== undefined);
  if (isSeen && requirements.witness === undefined) {
    const why =
      policy.proof.mode === 'warn'
        ? 'proof.mode is warn, and proof.witness of a profile can only refuse'
        : "only the proxy of this pod can accept the kubelet's connection (proof.inbound.transparent)";
    warnings.push(`${why}: the kubelet is no witness`);
  }
  const { operations, refuses, ...more } = inject(pod, requirements, selection, name, policy.proof);
  const changed = injectedAt(pod) >= 0 ? 'updated' : 'injected';
  return decision(refuses ? 'warned' : operations.length === 0 ? 'current' : changed, 'profile-applies', {
    profile: combined.name,
    profiles: requirements.profiles.map((applied) => applied.name),
    operations,
    warnings: [...warnings, ...more.warnings],
  });
}

/**
 * Skips a pod and removes an earlier injection, if the pod may be patched. The policy over the final pod knows most
 * exemptions, but not the DaemonSets of custom profiles: their pods get an annotation.
 */
function leave(pod: Pod, reason: Exemption): Decision {
  if (isUntouchable(reason)) return left(pod, reason, []);
  const status = reason === 'network-daemonset' ? reasonText(reason) : undefined;
  return left(pod, reason, removeInjection(pod, status));
}

function left(
  pod: Pod,
  reason: Exemption,
  operations: Operation[],
  more: { profile?: string; warnings?: string[] } = {},
): Decision {
  const outcome = operations.length > 0 && carriesInjection(pod) ? 'removed' : 'skipped';
  return decision(outcome, reason, { operations, ...more });
}

/**
 * Refuses a pod, or warns if `proof.mode` is `warn`.
 *
 * @param pod to record the warning on. Without the record, the policy over the final pod would report that cni-gate
 *   did not review the pod. Undefined if the pod cannot be patched
 */
export function refuse(policy: Policy, { code, message }: CniGateError, pod?: Pod): Decision {
  if (policy.proof.mode === 'enforce') {
    return decision('refused', code, { message: `${message} (${code})` });
  }
  // the code comes first: a warning may be cut at its end, and users search for the code
  const warnings = [`${code}: ${message}`];
  return decision('warned', code, { warnings, operations: pod ? recordRefusal(pod, code) : [] });
}
