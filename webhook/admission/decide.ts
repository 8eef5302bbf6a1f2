import type { Operation } from 'fast-json-patch';
import type { Policy } from '../config/policy.ts';
import { CniGateError, type ErrorCode } from '../errors.ts';
import { optOutValue, profileLabel } from '../names.ts';
import { type Choice, chooseProfile } from './choice.ts';
import { demandOn } from './demand.ts';
import { type Exemption, exemption, isUntouchable } from './exempt.ts';
import { inject, type PodChange } from './inject.ts';
import type { NamespaceFacts } from './namespaces.ts';
import type { Pod } from './pod.ts';
import type { PodRequest } from './review.ts';
import { acquit, carriesInjection, injectedAt, uninject } from './withdraw.ts';

/**
 * What came of a request. `warned` is a refusal that `proof.mode: warn` turned into a warning, or a pod that could
 * only have been refused; `current` means that the pod already is as it should be.
 */
export type Outcome = 'injected' | 'updated' | 'current' | 'removed' | 'skipped' | 'refused' | 'warned';

export interface Decision {
  outcome: Outcome;
  /** Why, in one word: an exemption, the code of a refusal, or `promised`. */
  reason: Exemption | ErrorCode | 'promised';
  /** The label's value, once it is known to stand for profiles of the configuration. */
  profile?: string;
  /** Those profiles of it that promise something to the pod. */
  profiles: string[];
  operations: Operation[];
  warnings: string[];
  /** The text of a refusal. */
  message?: string;
}

/** What a decision rests on besides the request: a snapshot, so that it is a pure function of its arguments. */
export interface DecisionContext {
  policy: Policy;
  /** Undefined where the namespace is not known. */
  namespace: NamespaceFacts | undefined;
  /** The namespace that cni-gate runs in. */
  ownNamespace?: string | undefined;
}

/** The decision about one pod: who is left alone, which profiles are asked for, what they promise to this pod. */
export function decide(request: PodRequest, context: DecisionContext): Decision {
  const { policy, namespace } = context;
  const { pod } = request;
  const exempt = exemption(request, policy.daemonSets, context.ownNamespace);
  if (exempt !== undefined) return leave(pod, exempt);
  if (namespace === undefined) {
    const message = `the labels of namespace "${request.namespace}" are not known here, so neither is what to prove`;
    return refuse(policy, new CniGateError('CNI_GATE_NAMESPACE_UNKNOWN', message));
  }
  const warnings: string[] = [];
  const choice = chooseAllowed(pod, namespace, policy, warnings);
  if (choice === undefined) return leave(pod, 'not-opted-in');
  if (choice.profile === optOutValue) return leave(pod, 'opted-out');
  try {
    const join = policy.join(choice.profile);
    const demand = demandOn(pod, join, namespace);
    if (demand === undefined) {
      const left = leaving(pod, 'nothing-promised', acquit(pod, choice));
      return { ...left, profile: join.name, warnings };
    }
    const change = inject(pod, demand, choice, request.namespace, policy.proof);
    return {
      outcome: change.unproved ? 'warned' : nameOf(change, injectedAt(pod) >= 0),
      reason: 'promised',
      profile: join.name,
      profiles: demand.profiles.map((profile) => profile.name),
      operations: change.operations,
      warnings: [...warnings, ...change.warnings],
    };
  } catch (error) {
    if (error instanceof CniGateError) return refuse(policy, error);
    throw error;
  }
}

function nameOf({ operations }: PodChange, before: boolean): Outcome {
  if (operations.length === 0) return 'current';
  return before ? 'updated' : 'injected';
}

/** The profile asked for; a pod that opts out against the configuration is told so and gets the namespace's. */
function chooseAllowed(
  pod: Pod,
  namespace: NamespaceFacts,
  policy: Policy,
  warnings: string[],
): Choice | undefined {
  const choice = chooseProfile(pod, namespace.labels);
  if (choice?.profile !== optOutValue || policy.proof.allowOptOut) return choice;
  const profile = namespace.labels[profileLabel] ?? '';
  warnings.push(`label ${profileLabel}: ${optOutValue} is not allowed here, so profile ${profile} applies`);
  return { profile, chosenBy: 'namespace' };
}

/** Leaves a pod alone; one that carries an earlier injection loses it where it may be patched at all. */
function leave(pod: Pod, reason: Exemption): Decision {
  return leaving(pod, reason, isUntouchable(reason) ? [] : uninject(pod));
}

function leaving(pod: Pod, reason: Exemption, operations: Operation[]): Decision {
  const outcome = operations.length > 0 && carriesInjection(pod) ? 'removed' : 'skipped';
  return { outcome, reason, profiles: [], operations, warnings: [] };
}

/** A refusal, or with `proof.mode: warn` a warning in its place. */
export function refuse(policy: Policy, error: CniGateError): Decision {
  const base = { reason: error.code, profiles: [], operations: [] };
  return policy.proof.mode === 'enforce'
    ? { ...base, outcome: 'refused', warnings: [], message: `${error.message} (${error.code})` }
    : // a warning may be cut at its end, and the code is what one searches for
      { ...base, outcome: 'warned', warnings: [`${error.code}: ${error.message}`] };
}
