import type { PodStatus } from '../../core/facts/api.ts';
import type { Pod } from '../../core/facts/pod.ts';
import { readStatus } from '../../core/facts/status-annotation.ts';
import { contextOf } from '../../core/facts/to-pod-evidence.ts';
import { hasStarted, resultOf, validatorStatus } from '../../core/facts/verdict.ts';
import { isErrorCode } from '../../lib/errors.ts';
import { statusAnnotation, validatorContainer } from '../../lib/names.ts';

/** Why a pod runs without a proof. */
export type WithoutProof = keyof typeof withoutProofText;

/** {@link WithoutProof} in words. */
export const withoutProofText = {
  'not-reviewed': `has no readable annotation ${statusAnnotation}: it is older than the label of its namespace, or cni-gate did not answer`,
  'admitted-with-warning': `would have been refused, and proof.mode is warn: ${statusAnnotation} has the code`,
  'container-missing': `checks are required, and there is no init container ${validatorContainer}`,
  'not-first': `an init container runs before ${validatorContainer}`,
  'not-completed': `it runs, and ${validatorContainer} has not ended with success`,
};

/**
 * Why a pod of a namespace that opted in runs without a proof; undefined where it was proved, where nothing has to be,
 * and while none of its containers but ours has started in its sandbox.
 */
export function whyWithoutProof(pod: Pod, status: PodStatus): WithoutProof | undefined {
  if (!hasStarted(status)) return undefined;
  const { checks, reason } = readStatus(pod) ?? {};
  if (!Array.isArray(checks)) return 'not-reviewed';
  if (checks.length === 0) return isErrorCode(reason) ? 'admitted-with-warning' : undefined;
  const at = (pod.spec.initContainers ?? []).findIndex(({ name }) => name === validatorContainer);
  if (at < 0) return 'container-missing';
  if (at > 0) return 'not-first';
  const { state, started } = validatorStatus(status) ?? {};
  const isReached = contextOf(pod).sidecar && state?.running && started;
  return state?.terminated?.exitCode === 0 || isReached ? undefined : 'not-completed';
}

/**
 * The state of the check of a pod:
 * - `passed`: our init container ended with 0;
 * - `failed`: it ended with another code, 95 for a network that is wrong, or with a failure that `proof.mode: warn`
 *   let pass;
 * - `waiting`: it has not ended yet;
 * - `optedOut`: the pod opted out, and may;
 * - `withoutProof`: the pod runs without a proof, see {@link WithoutProof};
 * - `skipped`: admission skipped it, as the pod is exempt or no profile applies.
 */
export type ProofState = (typeof proofStates)[number];
/** All values of {@link ProofState}, in the order in which tables show them. */
export const proofStates = ['passed', 'failed', 'waiting', 'optedOut', 'withoutProof', 'skipped'] as const;

/** The state of the check of a pod that admission neither skips nor lets opt out, and that is not without proof. */
export function proofState(pod: Pod, status: PodStatus): 'passed' | 'failed' | 'waiting' | 'skipped' {
  const checks = readStatus(pod)?.checks;
  if (Array.isArray(checks) && checks.length === 0) return 'skipped';
  const { verdict } = resultOf(status, contextOf(pod));
  return verdict === 'passed' || verdict === 'waiting' ? verdict : 'failed';
}

/** How many pods are in each state of their check. */
export type ProofCounts = Record<ProofState, number>;

/** How many of these pods are in each state of their check. */
export function countProofs(pods: Iterable<{ proof: ProofState }>): ProofCounts {
  const counts = Object.fromEntries(proofStates.map((state) => [state, 0])) as ProofCounts;
  for (const { proof } of pods) counts[proof] += 1;
  return counts;
}
