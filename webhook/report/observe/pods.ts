import { env } from '../../../validator/shared/contract.ts';
import { readMessage } from '../../../validator/shared/message.ts';
import type { ApiObject, Source } from '../../cluster/informer/object.ts';
import { podsPath } from '../../cluster/view/sources.ts';
import type { ApiPod, PodStatus } from '../../core/facts/api.ts';
import { waitsBy } from '../../core/facts/pending-pod.ts';
import { isOurContainer, type Pod, variableOf } from '../../core/facts/pod.ts';
import type { PodEvidence } from '../../core/facts/pod-evidence.ts';
import { refusedFor } from '../../core/facts/refusal-tag.ts';
import { readStatus } from '../../core/facts/status-annotation.ts';
import { contextOf, evidencePick } from '../../core/facts/to-pod-evidence.ts';
import { hasStarted, resultOf, timeOf, validatorStatus } from '../../core/facts/verdict.ts';
import type { Policy } from '../../core/profiles/policy.ts';
import { exemption } from '../../core/proof/selection.ts';
import { isErrorCode } from '../../lib/errors.ts';
import { texts } from '../../lib/limits.ts';
import { getOwn } from '../../lib/maps.ts';
import { optOutValue, profileLabel, statusAnnotation, validatorContainer } from '../../lib/names.ts';

/**
 * The state of a pod's proof:
 * - `passed`: our init container exited with 0, or, with a witness, its startup probe passed;
 * - `failed`: it exited with another code, or `proof.mode: warn` let the pod start although a check failed;
 * - `waiting`: our init container has no result yet;
 * - `opted-out`: the pod opted out, and the configuration allows this;
 * - `without-proof`: the pod runs without a proof, see {@link WithoutProof};
 * - `skipped`: admission skipped the pod, because it is exempt or no profile applies.
 */
export type ProofState = (typeof proofStates)[number];
/** All values of {@link ProofState}, in the order in which they are shown. */
export const proofStates = ['passed', 'failed', 'waiting', 'opted-out', 'without-proof', 'skipped'] as const;

/** Why a pod runs without a proof. */
export type WithoutProof = keyof typeof withoutProofText;

export const withoutProofText = {
  'not-reviewed': `has no readable annotation ${statusAnnotation}: it is older than the label of its namespace, or cni-gate did not answer`,
  'left-to-server': `needed cni-gate's server, which did not answer: ${statusAnnotation} has the reason`,
  'admitted-with-warning': `would have been refused, and proof.mode is warn: ${statusAnnotation} has the code`,
  'not-passed': `it runs, and ${validatorContainer} is missing, not the first, or has not ended with success`,
};

/** A namespace, which may have opted in. */
export interface OptIn {
  name: string;
  /** The value of the namespace's profile label; undefined if the namespace did not opt in. */
  profile: string | undefined;
  /** All labels, on which the conditions of profiles may depend. */
  labels?: Record<string, string>;
}

/** What is kept of a pod in a namespace that opted in. */
export interface PodFacts {
  namespace: string;
  name: string;
  /** Absent while the pod waits for a node. */
  node?: string;
  /** The value of the pod's own profile label, if that overrides the namespace's label. */
  profile?: string;
  proof: ProofState;
  held?: Hold;
  withoutProof?: WithoutProof;
  /** Our container's result and the pod's addresses; absent for exempt, unbound or unlabelled pods. */
  evidence?: PodEvidence;
  /** Whether the pod is in warn mode: our init container lets the pod start even if checks fail. */
  warns?: true;
  /** What a failed check saw, from the container's termination message; absent if the message does not show it. */
  seen?: string;
}

/** A pod that waits because the gate refused its node. */
export interface Hold {
  /** The node that the gate refused for the pod. */
  refused: string;
  /** What was not ready on the refused node at the last attempt; empty if the refusal was truncated. */
  why: string;
  /** Since when the pod has been waiting for a node, in milliseconds since the epoch; undefined if not known. */
  since: number | undefined;
  /** `status.nominatedNodeName`; empty where no node is nominated. */
  nominated: string;
}

/** The parts of a pod that {@link pickPod} reads, as the API gives them. */
export type ApiStatusPod = Pod &
  ApiPod & {
    spec: { nodeName?: string };
    status?: PodStatus & { nominatedNodeName?: string };
  };

/** What decides whether a pod is exempt. `ownNamespace` is the namespace of cni-gate. */
type Exempting = { policy: Policy; ownNamespace: string };

/** Lists the pods of each namespace that opted in, except pods that have ended, which no longer need a proof. */
export function podSources(
  namespaces: readonly OptIn[],
  exempting: Exempting,
): Source<ApiObject & ApiStatusPod, PodFacts>[] {
  // shared by all namespaces, because `evidencePick` keeps equal texts only once
  const toEvidence = evidencePick();
  const optedIn = namespaces.filter(({ profile }) => profile !== undefined);
  return optedIn.map(({ name }) => ({
    resource: `pods of namespace ${name}`,
    path: podsPath(name),
    query: { fieldSelector: 'status.phase!=Succeeded,status.phase!=Failed' },
    pick: (pod) => pickPod(pod, exempting, toEvidence),
  }));
}

export function pickPod(
  pod: ApiStatusPod,
  exempting: Exempting,
  toEvidence: (pod: ApiPod) => PodEvidence = evidencePick(),
): PodFacts {
  const { metadata, spec, status = {} } = pod;
  const { namespace = '', name, labels, deletionTimestamp } = metadata;
  const ours = spec.initContainers?.find(isOurContainer);
  const warns = ours !== undefined && variableOf(ours, env.mode) === 'warn' && !deletionTimestamp;
  const waits = waitsBy(pod);
  const refusal = refusedFor(waits?.message ?? '');
  const held = refusal && {
    refused: refusal.node,
    why: refusal.why,
    since: timeOf(waits?.lastTransitionTime),
    nominated: pod.status?.nominatedNodeName ?? '',
  };
  const exempt = whyExempt(pod, exempting);
  const withoutProof = exempt === undefined ? whyWithoutProof(pod, status) : undefined;
  const proof: ProofState = exempt ?? (withoutProof ? 'without-proof' : proofState(pod, status));
  const label = getOwn(labels, profileLabel);
  const profile = readStatus(pod)?.chosenBy === 'pod' && label;
  // without our label, the pod has no init container of ours either
  const hasEvidence = exempt === undefined && label !== undefined && !!spec.nodeName;
  const seen = proof === 'failed' && seenIn(resultOf(status, contextOf(pod)).ended?.message);
  return {
    namespace,
    name,
    ...(warns && { warns }),
    ...(spec.nodeName && { node: spec.nodeName }),
    ...(profile && { profile }),
    proof,
    ...(held && { held }),
    ...(withoutProof && { withoutProof }),
    ...(hasEvidence && { evidence: toEvidence(pod) }),
    ...(seen && { seen }),
  };
}

/**
 * What the termination message of our init container says: what the first failed check saw, or else the
 * problem. Undefined if it has neither: the container crashed, or the image is a network's own validator.
 */
function seenIn(message: string | null | undefined): string | undefined {
  const { problem, checks } = readMessage(message);
  const failure = checks.find(({ passed }) => !passed);
  if (failure === undefined) return problem?.slice(0, texts.quoted);
  const { profile, check, family, reason, seen } = failure;
  const name = [profile, check, family, reason].filter((text) => text !== undefined).join(' ');
  return (seen === undefined ? name : `${name}: saw ${seen}`).slice(0, texts.quoted);
}

/** Why the pod needs no proof: it may opt out and did so, or admission skips it. Undefined if a proof is needed. */
function whyExempt(
  pod: ApiStatusPod,
  { policy, ownNamespace }: Exempting,
): 'opted-out' | 'skipped' | undefined {
  const { namespace = '', name } = pod.metadata;
  const request = { uid: '', namespace, name, operation: 'CREATE', subResource: '', dryRun: false, pod };
  if (exemption(request, policy.daemonSets, ownNamespace) !== undefined) return 'skipped';
  const asksForNone = getOwn(pod.metadata.labels, profileLabel) === optOutValue;
  return asksForNone && policy.proof.allowOptOut ? 'opted-out' : undefined;
}

/**
 * Why a pod that is not exempt runs without a proof. Undefined if the pod passed its proof or needs no check, or while
 * only our init container has started in its sandbox.
 */
function whyWithoutProof(pod: Pod, status: PodStatus): WithoutProof | undefined {
  if (!hasStarted(status)) return undefined;
  const { checks, reason, left } = readStatus(pod) ?? {};
  if (!Array.isArray(checks)) return left === undefined ? 'not-reviewed' : 'left-to-server';
  if (checks.length === 0) return isErrorCode(reason) ? 'admitted-with-warning' : undefined;
  const isFirst = pod.spec.initContainers?.[0]?.name === validatorContainer;
  const { state, started } = validatorStatus(status) ?? {};
  // our init container runs beside the pod's own containers only if the pod has a witness
  const isReached = state?.running && started;
  return isFirst && (state?.terminated?.exitCode === 0 || isReached) ? undefined : 'not-passed';
}

/** The state of the proof of a pod that is neither exempt nor without a proof. */
function proofState(pod: Pod, status: PodStatus): 'passed' | 'failed' | 'waiting' | 'skipped' {
  const checks = readStatus(pod)?.checks;
  if (Array.isArray(checks) && checks.length === 0) return 'skipped';
  const { verdict } = resultOf(status, contextOf(pod));
  return verdict === 'passed' || verdict === 'waiting' ? verdict : 'failed';
}
