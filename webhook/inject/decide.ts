import type { Operation } from 'fast-json-patch';
import type { NamespaceFacts } from '../admission/namespaces.ts';
import type { Pod } from '../admission/pod.ts';
import type { PodRequest } from '../admission/review.ts';
import type { Policy } from '../config/policy.ts';
import { CniGateError, type ErrorCode } from '../lib/errors.ts';
import { optOutValue, profileLabel } from '../lib/names.ts';
import { type Exemption, exemption, isUntouchable } from './exempt.ts';
import { inject, type PodChange } from './inject.ts';
import { type ProfileSelection, selectProfile } from './profile-selection.ts';
import { requirementsFor } from './proof-requirements.ts';
import {
  carriesInjection,
  injectedAt,
  markExempt,
  markReviewed,
  recordRefusal,
  removeInjection,
} from './remove-injection.ts';

/**
 * The result of a request. `warned` is a refusal that `proof.mode: warn` turned into a warning, or a pod that could
 * only be refused; `current` means that the pod needs no change.
 */
export type Outcome = 'injected' | 'updated' | 'current' | 'removed' | 'skipped' | 'refused' | 'warned';

export interface Decision {
  outcome: Outcome;
  /** The reason: an exemption, the code of a refusal, or `promised`. */
  reason: Exemption | ErrorCode | 'promised';
  /** The label's value, if it names profiles of the configuration. */
  profile?: string;
  /** Its profiles that apply to the pod. */
  profiles: string[];
  operations: Operation[];
  warnings: string[];
  /** The text of a refusal. */
  message?: string;
}

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
  const warnings: string[] = [];
  const selection = chooseAllowed(pod, namespace, policy, warnings);
  if (selection === undefined) return leave(pod, 'not-opted-in');
  if (selection.profile === optOutValue) return leave(pod, 'opted-out');
  try {
    const join = policy.join(selection.profile);
    const requirements = requirementsFor(pod, join, namespace);
    if (requirements === undefined) {
      const left = leaving(pod, 'nothing-promised', markReviewed(pod, selection));
      return { ...left, profile: join.name, warnings };
    }
    const change = inject(pod, requirements, selection, request.namespace, policy.proof);
    return {
      outcome: change.unproved ? 'warned' : nameOf(change, injectedAt(pod) >= 0),
      reason: 'promised',
      profile: join.name,
      profiles: requirements.profiles.map((profile) => profile.name),
      operations: change.operations,
      warnings: [...warnings, ...change.warnings],
    };
  } catch (error) {
    if (error instanceof CniGateError) return refuse(policy, error, pod);
    throw error;
  }
}

function nameOf({ operations }: PodChange, before: boolean): Outcome {
  if (operations.length === 0) return 'current';
  return before ? 'updated' : 'injected';
}

/**
 * The chosen profile. A pod that opts out although the configuration forbids it gets a warning and the namespace's
 * profile.
 */
function chooseAllowed(
  pod: Pod,
  namespace: NamespaceFacts,
  policy: Policy,
  warnings: string[],
): ProfileSelection | undefined {
  const selection = selectProfile(pod, namespace.labels);
  if (selection?.profile !== optOutValue || policy.proof.allowOptOut) return selection;
  const profile = namespace.labels[profileLabel] ?? '';
  warnings.push(`label ${profileLabel}: ${optOutValue} is not allowed (proof.allowOptOut), so profile ${profile} applies`);
  return { profile, chosenBy: 'namespace' };
}

/**
 * Skips a pod and removes an earlier injection, if the pod may be patched. The policy over the final pod knows most
 * exemptions, but not the DaemonSets of custom profiles: their pods get an annotation.
 */
function leave(pod: Pod, reason: Exemption): Decision {
  if (isUntouchable(reason)) return leaving(pod, reason, []);
  return leaving(
    pod,
    reason,
    reason === 'network-daemonset' ? markExempt(pod, reason) : removeInjection(pod),
  );
}

function leaving(pod: Pod, reason: Exemption, operations: Operation[]): Decision {
  const outcome = operations.length > 0 && carriesInjection(pod) ? 'removed' : 'skipped';
  return { outcome, reason, profiles: [], operations, warnings: [] };
}

/**
 * A refusal, or with `proof.mode: warn` a warning.
 *
 * @param pod the pod on which to record the warning, so that the policy over the final pod accepts it
 */
export function refuse(policy: Policy, error: CniGateError, pod?: Pod): Decision {
  const base = { reason: error.code, profiles: [] };
  if (policy.proof.mode === 'enforce') {
    const message = `${error.message} (${error.code})`;
    return { ...base, outcome: 'refused', operations: [], warnings: [], message };
  }
  const operations = pod === undefined ? [] : recordRefusal(pod, error.code);
  // a warning may be cut at its end, so the code comes first
  return { ...base, outcome: 'warned', operations, warnings: [`${error.code}: ${error.message}`] };
}
