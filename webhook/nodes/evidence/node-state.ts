import type { EvidenceMode } from '../../config/types.ts';
import type { ContainersStart } from '../readiness/state.ts';
import type { EvidenceView } from './evidence.ts';
import type { Candidate, NodeProofStats } from './node-proof-stats.ts';

/**
 * What the proofs on a node say of a profile:
 * - `proved`: nothing speaks against it;
 * - `unproved`: no proof has passed there since the node or a container of its DaemonSets' pods started;
 * - `failing`: pods of at least two owners failed or got no sandbox, and none passed since.
 */
export type ProofState = 'proved' | 'unproved' | 'failing';

/** What the proofs on a node say of a profile, and whether one more pod may be bound there to find out. */
export interface NodeProof {
  state: ProofState;
  /** Why, as text that is the same at each evaluation. Empty for `proved`. */
  reason: string;
  /** Whether a pod may be bound: the node is proved, or it is the pod's turn to try. */
  mayTry: boolean;
}

/** What is asked. */
export interface ProofQuestion {
  profile: string;
  node: string;
  mode: EvidenceMode;
  /** When the containers started of the pods of the profile's DaemonSets on the node. Proofs before it do not count. */
  started: readonly ContainersStart[];
  /** Who asks; undefined if no particular pod does. */
  pod?: Candidate | undefined;
  /** Milliseconds since the epoch. */
  now: number;
}

/** How many owners have to fail before a node counts as failing: one may fail for its own sake. */
const enoughOwners = 2;

const proved: NodeProof = { state: 'proved', reason: '', mayTry: true };

const neverProved = 'no pod has proved its network there yet';
const notSince = "no pod has proved its network there since the node or the network's pod started";

/** What the proofs say of a profile on a node. */
export function proofOn(evidence: EvidenceView, question: ProofQuestion): NodeProof {
  const { profile, node, mode, started, pod, now } = question;
  const stats = evidence.of(profile, node);
  if (stats === undefined) {
    return mode === 'ready' ? proved : { state: 'unproved', reason: neverProved, mayTry: true };
  }
  const from = started.reduce((latest, { at = latest }) => Math.max(latest, at), Number.NEGATIVE_INFINITY);
  const against = textsAgainst(stats, from, now);
  const isFailing = against.length >= enoughOwners;
  const isProved = (stats.lastPass?.at ?? Number.NEGATIVE_INFINITY) > from;
  if (!isFailing && (mode === 'ready' || isProved)) return proved;
  const mayTry = stats.mayTry(pod, from, now);
  if (isFailing) {
    const reason = `proofs say that the network does not work: ${against.slice(0, enoughOwners).join(', ')}`;
    return { state: 'failing', reason, mayTry };
  }
  return { state: 'unproved', reason: stats.lastPass === undefined ? neverProved : notSince, mayTry };
}

/** What speaks against the node since the network's containers started, one text for each owner. */
function textsAgainst(stats: NodeProofStats, from: number, now: number): string[] {
  const texts = new Map<string, string>();
  for (const [owner, { pod, startedAt }] of stats.failures) {
    if (startedAt >= from) texts.set(owner, `pod ${pod} failed`);
  }
  for (const [owner, pod] of stats.overdue(from, now)) {
    if (!texts.has(owner)) texts.set(owner, `pod ${pod} has no sandbox`);
  }
  return [...texts.values()];
}
