import { isDaemonSet } from '../facts/pod-evidence.ts';
import type { Policy } from '../profiles/policy.ts';
import type { Profile } from '../profiles/types.ts';
import { open, type State } from './daemon-set-status.ts';
import type { EvidenceView } from './evidence.ts';
import { isLater } from './moment.ts';
import type { Candidate } from './node-proof-stats.ts';
import type { Readiness } from './readiness.ts';

/** What is known of nodes and of the proofs on them. */
export interface Known {
  readiness: Readiness;
  evidence: EvidenceView;
}

/** Who asks, and when. */
export interface Requester {
  /** Undefined if no particular pod asks. */
  pod?: Candidate | undefined;
  /** Milliseconds since the epoch. */
  now: number;
}

/** What the proofs on a node say of a profile, and whether one more pod may be bound there to find out. */
export interface NodeProof {
  /**
   * - `proved`: nothing speaks against it;
   * - `unproved`: no proof has passed there since the node or a container of its DaemonSets' pods started;
   * - `failing`: pods of at least two owners failed or got no sandbox, and none passed since.
   */
  state: 'proved' | 'unproved' | 'failing';
  /** Why, as text that is the same at each evaluation. Empty for `proved`. */
  reason: string;
  /** Since when: the start of the node or of its network's containers, or the first failure. Milliseconds since the epoch. */
  since: number;
  /** Whether a pod may be bound: the node is proved, or it is the pod's turn to try. */
  mayTry: boolean;
}

/** How many owners have to fail before a node counts as failing: one may fail for its own sake. */
const enoughOwners = 2;

const proved: NodeProof = { state: 'proved', reason: '', since: 0, mayTry: true };

const neverProved = 'no pod has proved its network there yet';
const notSince = "no pod has proved its network there since the node or the network's pod started";

/** What the proofs on a node say of a profile of the policy; undefined while the pods are not listed yet. */
export function profileProof(
  profile: Profile,
  node: string,
  { readiness, evidence }: { readiness: Pick<Readiness, 'node' | 'started'>; evidence: EvidenceView },
  policy: Pick<Policy, 'evidenceOf'>,
  { pod, now }: Requester,
): NodeProof | undefined {
  const createdAt = readiness.node(node)?.createdAt;
  if (!evidence.synced || createdAt === undefined) return undefined;
  const mode = policy.evidenceOf(profile);
  const stats = evidence.of(profile.name, node);
  // nothing speaks against the node, and nothing is required: most profiles on most nodes
  if (mode === 'ready' && stats?.quiet !== false) return proved;
  const from = readiness.started(profile.daemonSets, node);
  const since = Math.max(from.at, createdAt);
  const holder = evidence.reservations.holder(profile.name, node, now);
  const isHolder = pod?.key !== undefined && (holder === pod.key || holder === pod.owner);
  const isFree = holder === undefined || isHolder;
  if (stats === undefined) return { state: 'unproved', reason: neverProved, since, mayTry: isFree };
  const against = stats.against(from, now);
  const isFailing = against.length >= enoughOwners;
  const isProved = stats.lastPass !== undefined && isLater(stats.lastPass, from);
  if (!isFailing && (mode === 'ready' || isProved)) return proved;
  const runsElsewhere = (): boolean =>
    !isDaemonSet(pod?.owner ?? '') &&
    [...evidence.ownedBy(pod?.owner ?? '')].some(
      (other) => other.node !== node && other.verdict === 'passed',
    );
  // who reserved it has waited for the pause
  const mayTry =
    isFree && !stats.isTried(now) && (isHolder || stats.isPauseOver(pod, from, now, runsElsewhere));
  if (isFailing) {
    const reason = `proofs say that the network does not work: ${against.slice(0, enoughOwners).join(', ')}`;
    return { state: 'failing', reason, since: Math.max(since, stats.failingSince), mayTry };
  }
  const reason = stats.lastPass === undefined ? neverProved : notSince;
  return { state: 'unproved', reason, since, mayTry };
}

/**
 * Returns the function that refines the state of a DaemonSet on a node by the proofs of a profile there: `failing` and
 * `unproved` take the place of `ready` and `exempt`.
 *
 * @param now milliseconds since the epoch
 */
export function stateBy(
  profile: Profile,
  known: Known,
  policy: Policy,
  now: number,
): (node: string, state: State) => State {
  return (node, state) => {
    if (!open.has(state)) return state;
    const proof = profileProof(profile, node, known, policy, { now });
    return proof === undefined || proof.state === 'proved' ? state : proof.state;
  };
}
