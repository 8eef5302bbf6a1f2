import type { Pod } from '../admission/pod.ts';
import type { Policy } from '../config/policy.ts';
import type { PodEvidence } from '../evidence/facts.ts';
import { type ApiEvidencePod, evidencePick } from '../evidence/to-facts.ts';
import { type ProofStatus, resultOf } from '../evidence/verdict.ts';
import { waitsBy } from '../gate/gate-pod.ts';
import { type Refused, refusedFor } from '../gate/refusal.ts';
import { exemption } from '../inject/exempt.ts';
import { readStatus } from '../inject/status-annotation.ts';
import { optOutValue, profileLabel } from '../lib/names.ts';
import { own } from '../lib/own.ts';
import { type ApiPendingPod, type PendingPod, toPendingPod } from '../steer/pending-pod.ts';
import type { Hold, PodFacts } from './facts.ts';
import { type ProofState, proofState, unproved } from './proof.ts';
import { seenIn } from './seen.ts';

/** The parts of a pod that {@link pickPod} reads, as the API gives them. */
export type ApiStatusPod = Pod &
  ApiPendingPod &
  ApiEvidencePod & {
    spec: { nodeName?: string };
    status?: ProofStatus;
  };

/** What decides who is left alone. */
export interface Exempting {
  policy: Policy;
  /** The namespace that cni-gate runs in. */
  ownNamespace: string;
}

/**
 * What status keeps of a pod in a namespace that opted in.
 *
 * @param toEvidence shares equal texts of the pods that it is called for
 */
export function pickPod(
  pod: ApiStatusPod,
  exempting: Exempting,
  toEvidence: (pod: ApiEvidencePod) => PodEvidence = evidencePick(),
): PodFacts {
  const { namespace = '', name } = pod.metadata;
  const refused = refusedFor(waitsBy(pod)?.message ?? '');
  const held = refused !== undefined && holdOf(toPendingPod(pod), refused);
  const exempt = whyExempt(pod, exempting);
  const without = exempt === undefined ? unproved(pod, pod.status ?? {}) : undefined;
  const proof: ProofState = exempt ?? (without ? 'unproved' : proofState(pod, pod.status ?? {}));
  const profile = readStatus(pod)?.chosenBy === 'pod' && own(pod.metadata.labels, profileLabel);
  // whoever carries no label of ours has no init container of ours either
  const isMarked = own(pod.metadata.labels, profileLabel) !== undefined && !!pod.spec.nodeName;
  const seen = proof === 'failed' ? seenBy(pod.status ?? {}) : undefined;
  return {
    namespace,
    name,
    ...(pod.spec.nodeName && { node: pod.spec.nodeName }),
    ...(profile && { profile }),
    proof,
    ...(held && { held }),
    ...(without && { unproved: without }),
    ...(exempt === undefined && isMarked && { evidence: toEvidence(pod) }),
    ...(seen && { seen }),
  };
}

const seenBy = (status: ProofStatus): string | undefined => seenIn(resultOf(status).ended?.message ?? '');

const holdOf = (pod: PendingPod, { node, why }: Refused): Hold => ({
  refused: node,
  why,
  since: pod.heldSince,
  nominated: pod.nominated,
  pod,
});

/** Why the pod needs no proof: it asked for none and may, or admission would have left it alone. */
function whyExempt(
  pod: ApiStatusPod,
  { policy, ownNamespace }: Exempting,
): 'optedOut' | 'leftAlone' | undefined {
  const { namespace = '', name } = pod.metadata;
  const request = { uid: '', namespace, name, operation: 'CREATE', subResource: '', dryRun: false, pod };
  if (exemption(request, policy.daemonSets, ownNamespace) !== undefined) return 'leftAlone';
  const asksForNone = own(pod.metadata.labels, profileLabel) === optOutValue;
  return asksForNone && policy.proof.allowOptOut ? 'optedOut' : undefined;
}
