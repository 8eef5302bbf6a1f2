import { env } from '../../../validator/shared/contract.ts';
import { readMessage } from '../../../validator/shared/message.ts';
import type { ApiObject, Source } from '../../cluster/informer/object.ts';
import { podsPath } from '../../cluster/view/sources.ts';
import type { ApiPod, PodStatus } from '../../core/facts/api.ts';
import { waitsBy } from '../../core/facts/gate-pod.ts';
import { isOurContainer, type Pod, variableOf } from '../../core/facts/pod.ts';
import type { PodEvidence } from '../../core/facts/pod-evidence.ts';
import { refusedFor } from '../../core/facts/refusal-tag.ts';
import { readStatus } from '../../core/facts/status-annotation.ts';
import { contextOf, evidencePick } from '../../core/facts/to-pod-evidence.ts';
import { hasStarted, resultOf, sandboxSince, timeOf, validatorStatus } from '../../core/facts/verdict.ts';
import type { Policy } from '../../core/profiles/policy.ts';
import { exemption } from '../../core/proof/selection.ts';
import { isErrorCode } from '../../lib/errors.ts';
import { texts } from '../../lib/limits.ts';
import { getOwn } from '../../lib/maps.ts';
import { optOutValue, profileLabel, statusAnnotation, validatorContainer } from '../../lib/names.ts';

/**
 * The state of the check of a pod:
 * - `passed`: our init container ended with 0;
 * - `failed`: it ended with another code, or with a failure that `proof.mode: warn` let pass;
 * - `waiting`: it has not ended yet;
 * - `optedOut`: the pod opted out, and may;
 * - `withoutProof`: the pod runs without a proof, see {@link WithoutProof};
 * - `skipped`: admission skipped it, as the pod is exempt or no profile applies.
 */
export type ProofState = (typeof proofStates)[number];
/** All values of {@link ProofState}, in the order in which tables show them. */
export const proofStates = ['passed', 'failed', 'waiting', 'optedOut', 'withoutProof', 'skipped'] as const;

/** Why a pod runs without a proof. */
export type WithoutProof = keyof typeof withoutProofText;

export const withoutProofText = {
  'not-reviewed': `has no readable annotation ${statusAnnotation}: it is older than the label of its namespace, or cni-gate did not answer`,
  'admitted-with-warning': `would have been refused, and proof.mode is warn: ${statusAnnotation} has the code`,
  'container-missing': `checks are required, and there is no init container ${validatorContainer}`,
  'not-first': `an init container runs before ${validatorContainer}`,
  'not-completed': `it runs, and ${validatorContainer} has not ended with success`,
};

/** A namespace. */
export interface OptIn {
  name: string;
  /** What its label asks for; undefined where it did not opt in. */
  profile: string | undefined;
}

/** What is kept of a pod in a namespace that opted in. */
export interface PodFacts {
  namespace: string;
  name: string;
  /** Absent while it waits for one. */
  node?: string;
  /** The profile that its own label asks for, where that overrides the namespace's. */
  profile?: string;
  proof: ProofState;
  held?: Hold;
  withoutProof?: WithoutProof;
  /** What its init container found out, and its addresses; absent where the pod has no node or does not carry our label. */
  evidence?: PodEvidence;
  /** Of a failed proof: since when the pod has its sandbox, milliseconds since the epoch; absent if it does not say. */
  failingSince?: number;
  /** Whether its init container lets it start whatever it finds. */
  warns?: true;
  /** What a check that did not pass saw, from the container's message; absent where that says nothing. */
  seen?: string;
}

/** A pod that waits because the gate refused its node. */
export interface Hold {
  uid: string;
  /** The node that it was refused for. */
  refused: string;
  /** What was not ready there at its last try; empty where the refusal is cut off. */
  why: string;
  /** Since when it waits for a node, milliseconds since the epoch; undefined where the pod does not say. */
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

/** What decides which pods are exempt; the namespace is that of cni-gate. */
type Exempting = { policy: Policy; ownNamespace: string };

/** The pods of each namespace that opted in. Pods that came to their end prove and hold nothing. */
export function podSources(
  namespaces: readonly OptIn[],
  exempting: Exempting,
): Source<ApiObject & ApiStatusPod, PodFacts>[] {
  // shares equal texts of all these pods
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
  const { uid, namespace = '', name, labels, deletionTimestamp } = metadata;
  const ours = spec.initContainers?.find(isOurContainer);
  const warns = ours !== undefined && variableOf(ours, env.mode) === 'warn' && !deletionTimestamp;
  const waits = waitsBy(pod);
  const refusal = refusedFor(waits?.message ?? '');
  const held = refusal && {
    uid,
    refused: refusal.node,
    why: refusal.why,
    since: timeOf(waits?.lastTransitionTime),
    nominated: pod.status?.nominatedNodeName ?? '',
  };
  const exempt = whyExempt(pod, exempting);
  const withoutProof = exempt === undefined ? whyWithoutProof(pod, status) : undefined;
  const proof: ProofState = exempt ?? (withoutProof ? 'withoutProof' : proofState(pod, status));
  const label = getOwn(labels, profileLabel);
  const profile = readStatus(pod)?.chosenBy === 'pod' && label;
  // a pod without our label has no init container of ours either
  const hasEvidence = exempt === undefined && label !== undefined && !!spec.nodeName;
  const isFailed = proof === 'failed';
  const seen = isFailed ? seenIn(resultOf(status, contextOf(pod)).ended?.message) : undefined;
  const failingSince = isFailed ? sandboxSince(status) : undefined;
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
    ...(failingSince && { failingSince }),
  };
}

/**
 * What the first check that did not pass saw, from the termination message of our init container. Undefined where the
 * message has none: the container crashed, or runs a network's own validator.
 */
function seenIn(message: string | null | undefined): string | undefined {
  const { problem, checks } = readMessage(message);
  const failure = checks.find(({ passed }) => !passed);
  if (failure === undefined) return problem?.slice(0, texts.quoted);
  const { profile, check, family, reason, seen } = failure;
  const name = [profile, check, family, reason].filter((text) => text !== undefined).join(' ');
  return (seen === undefined ? name : `${name}: saw ${seen}`).slice(0, texts.quoted);
}

/** Why the pod needs no proof: it asked for none and may, or admission would have skipped it. */
function whyExempt(
  pod: ApiStatusPod,
  { policy, ownNamespace }: Exempting,
): 'optedOut' | 'skipped' | undefined {
  const { namespace = '', name } = pod.metadata;
  const request = { uid: '', namespace, name, operation: 'CREATE', subResource: '', dryRun: false, pod };
  if (exemption(request, policy.daemonSets, ownNamespace) !== undefined) return 'skipped';
  const asksForNone = getOwn(pod.metadata.labels, profileLabel) === optOutValue;
  return asksForNone && policy.proof.allowOptOut ? 'optedOut' : undefined;
}

/**
 * Why a pod that is not exempt runs without a proof; undefined where it was proved, where nothing has to be, and while
 * none of its containers but ours has started in its sandbox.
 */
function whyWithoutProof(pod: Pod, status: PodStatus): WithoutProof | undefined {
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

/** The state of the check of a pod that is neither exempt nor without proof. */
function proofState(pod: Pod, status: PodStatus): 'passed' | 'failed' | 'waiting' | 'skipped' {
  const checks = readStatus(pod)?.checks;
  if (Array.isArray(checks) && checks.length === 0) return 'skipped';
  const { verdict } = resultOf(status, contextOf(pod));
  return verdict === 'passed' || verdict === 'waiting' ? verdict : 'failed';
}
