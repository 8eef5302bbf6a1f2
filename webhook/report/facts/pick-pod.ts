import { type ApiGatePod, toGatePod, waitsBy } from '../../admission/gate/gate-pod.ts';
import { type Refused, refusedFor } from '../../admission/gate/refusal.ts';
import { exemption } from '../../admission/mutate/exempt.ts';
import { readStatus } from '../../admission/mutate/status-annotation.ts';
import type { Pod } from '../../admission/pod.ts';
import type { Policy } from '../../config/policy.ts';
import { texts } from '../../lib/limits.ts';
import { optOutValue, profileLabel } from '../../lib/names.ts';
import { own } from '../../lib/own.ts';
import type { PodEvidence } from '../../nodes/evidence/facts.ts';
import { type ApiEvidencePod, evidencePick } from '../../nodes/evidence/to-facts.ts';
import { type ProofStatus, resultOf } from '../../nodes/evidence/verdict.ts';
import type { Hold, PodFacts } from './model.ts';
import { type ProofState, proofState, unproved } from './proof.ts';

/** The parts of a pod that {@link pickPod} reads, as the API gives them. */
export type ApiStatusPod = Pod &
  ApiGatePod &
  ApiEvidencePod & {
    spec: { nodeName?: string };
    status?: ProofStatus & { nominatedNodeName?: string };
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
  const held = refused !== undefined && holdOf(pod, refused);
  const exempt = whyExempt(pod, exempting);
  const without = exempt === undefined ? unproved(pod, pod.status ?? {}) : undefined;
  const proof: ProofState = exempt ?? (without ? 'unproved' : proofState(pod, pod.status ?? {}));
  const profile = readStatus(pod)?.chosenBy === 'pod' && own(pod.metadata.labels, profileLabel);
  // a pod without our label has no init container of ours either
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

/** The parts of a termination message that are read; each may be anything. */
interface Message {
  problem?: unknown;
  checks?: unknown;
}

/**
 * What the first check that did not pass saw, from the termination message of our init container, in a few words.
 * Undefined where the message has none: the container crashed, or runs a network's own validator.
 */
function seenIn(message: string): string | undefined {
  let report: Message | null;
  try {
    report = JSON.parse(message);
  } catch {
    return undefined;
  }
  if (typeof report?.problem === 'string') return report.problem.slice(0, texts.quoted);
  const checks: (Record<string, unknown> | null)[] = Array.isArray(report?.checks) ? report.checks : [];
  const found = checks.find((one) => one?.passed === false);
  if (!found) return undefined;
  const words = [found.profile, found.check, found.family, found.reason];
  const name = words.filter((word) => typeof word === 'string').join(' ');
  return (typeof found.seen === 'string' ? `${name}: saw ${found.seen}` : name).slice(0, texts.quoted);
}

const seenBy = (status: ProofStatus): string | undefined => seenIn(resultOf(status).ended?.message ?? '');

function holdOf(pod: ApiStatusPod, { node, why }: Refused): Hold {
  const { uid, heldSince } = toGatePod(pod);
  return { uid, refused: node, why, since: heldSince, nominated: pod.status?.nominatedNodeName ?? '' };
}

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
