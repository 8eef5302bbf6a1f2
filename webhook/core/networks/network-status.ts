import { nameOf } from '../../lib/names.ts';
import { isDaemonSet, verdictAt } from '../facts/pod-evidence.ts';
import type { Policy } from '../profiles/policy.ts';
import { type DaemonSetRef, type Profile, placesOf } from '../profiles/types.ts';
import { type AskingPod, assess } from './assess.ts';
import { type DaemonSetStatus, openStates, type State } from './daemon-set-status.ts';
import type { EvidenceView } from './evidence.ts';
import { isLater } from './moment.ts';
import type { Readiness } from './readiness.ts';

/** What the status of a network depends on. */
export interface NetworkFacts {
  policy: Pick<Policy, 'evidenceOf' | 'gate'>;
  readiness: Pick<Readiness, 'status' | 'knows' | 'node' | 'started'>;
  evidence: EvidenceView;
  /** What is uncertain, for callers that refuse only what is certain. Without it, unknown DaemonSets are ignored. */
  doubts?: Doubts;
}

/** What may be missing in the data of the watches. */
export interface Doubts {
  /** Whether nodes, DaemonSet or pods are not listed yet, so that a missing pod of this DaemonSet proves nothing. */
  notSynced(daemonSet: DaemonSetRef): boolean;
  /** Whether the list of this DaemonSet's pods may be older than the node, so that a missing pod proves nothing. */
  notObservedSince(daemonSet: DaemonSetRef, node: string): boolean;
}

/** Why not every pod may use a network on a node. */
export interface NetworkProblem extends DaemonSetStatus {
  node: string;
  profile: string;
  /** The DaemonSet whose state is reported; undefined if the profile names no DaemonSet. */
  daemonSet: DaemonSetRef | undefined;
}

export type UnknownReason = 'not-synced' | 'node-unknown' | 'daemonset-unknown';

/**
 * Whether a pod may use the network of a profile on a node:
 * - `ready`: nothing counts against the network;
 * - `exempt`: no DaemonSet of the profile is meant to run on the node;
 * - `try`: the network needs a proof, and the asking pod may be bound as a probe;
 * - `blocked`: a DaemonSet is not ready, or the network needs a proof, and another pod has to probe it first;
 * - `unknown`: the watches do not show enough to decide; `why` explains this in messages.
 */
export type NetworkStatus =
  | { kind: 'ready' | 'exempt' }
  | ({ kind: 'try' | 'blocked' } & NetworkProblem)
  | { kind: 'unknown'; reason: UnknownReason; why: string };

/** A DaemonSet of a profile and its status on a node; no status if the node or the DaemonSet is unknown. */
interface KnownStatus {
  /** Undefined if the DaemonSet does not exist. */
  daemonSet: DaemonSetRef | undefined;
  /** Where the DaemonSet is; if it does not exist, all places where it may be. */
  places: DaemonSetRef[];
  status: DaemonSetStatus | undefined;
}

/**
 * Decides whether a pod may use a network on a node. The gate, steering, repair, metrics and reports all use this
 * decision.
 * @param now milliseconds since the epoch
 * @param asking the pod that is to be bound; undefined if the decision is not for a particular pod
 */
export function networkStatus(
  profile: Profile,
  node: string,
  facts: NetworkFacts,
  now: number,
  asking?: AskingPod,
): NetworkStatus {
  let unknown: NetworkStatus | undefined;
  let open: { daemonSet: DaemonSetRef | undefined; status: DaemonSetStatus } | undefined;
  for (const known of daemonSetStatuses(profile, node, facts, now)) {
    const { daemonSet, status } = known;
    const doubt = facts.doubts && doubtAbout(known, node, facts.doubts);
    if (doubt !== undefined) unknown ??= doubt;
    if (doubt !== undefined || status === undefined) continue;
    if (!openStates.has(status.state))
      return { kind: 'blocked', node, profile: profile.name, daemonSet, ...status };
    if (open === undefined || status.state === 'ready') open = { daemonSet, status };
  }
  const proof = proofStatus(profile, node, facts, now, asking);
  if (proof === undefined && facts.doubts && facts.policy.evidenceOf(profile) === 'proof')
    unknown ??= notListed('pods on nodes');
  if (proof === undefined || proof.state === 'proved')
    return unknown ?? { kind: open?.status.state === 'exempt' ? 'exempt' : 'ready' };
  const { state, reason, since, mayProbe } = proof;
  const pod = open?.status.pod;
  const problem: NetworkProblem = {
    ...{ node, profile: profile.name, daemonSet: open?.daemonSet, state, reason, observedAt: since },
    ...(pod !== undefined && { pod }),
  };
  if (!mayProbe) return { kind: 'blocked', ...problem };
  return { kind: 'try', ...problem };
}

/** The status that decides for a pod with several networks: the one whose kind comes first in the list below. */
export function decisiveStatus(statuses: readonly NetworkStatus[]): NetworkStatus {
  for (const kind of ['blocked', 'unknown', 'try', 'ready', 'exempt']) {
    const status = statuses.find((candidate) => candidate.kind === kind);
    if (status !== undefined) return status;
  }
  return { kind: 'ready' };
}

/** Whether the network is blocked because of pods' proofs, and not because of a DaemonSet. */
export const hasToBeProved = ({ state }: DaemonSetStatus): boolean =>
  state === 'unproved' || state === 'failing';

const daemonSetStatuses = (
  { daemonSets }: Profile,
  node: string,
  { readiness, policy }: Pick<NetworkFacts, 'readiness' | 'policy'>,
  now: number,
): KnownStatus[] =>
  daemonSets.map(placesOf).flatMap((places): KnownStatus[] => {
    const existing = places.filter((place) => readiness.knows(place));
    // if the DaemonSet exists in one namespace, it need not exist in the others
    if (existing.length === 0) return [{ daemonSet: undefined, places, status: undefined }];
    return existing.map((daemonSet) => {
      const status = readiness.status(daemonSet, node, now, policy.gate.startupGrace);
      return { daemonSet, places: [daemonSet], status };
    });
  });

/** The states of a profile's known DaemonSets on a node. `failing` and `unproved` replace `ready` and `exempt`. */
export function statesOn(
  profile: Profile,
  node: string,
  facts: NetworkFacts,
  now: number,
): { daemonSet: DaemonSetRef; state: State }[] {
  const proof = proofStatus(profile, node, facts, now);
  const byProof = proof === undefined || proof.state === 'proved' ? undefined : proof.state;
  return daemonSetStatuses(profile, node, facts, now).flatMap(({ daemonSet, status }) => {
    if (daemonSet === undefined || status === undefined) return [];
    const isOpen = openStates.has(status.state);
    return [{ daemonSet, state: isOpen ? (byProof ?? status.state) : status.state }];
  });
}

/** Why the status of a DaemonSet is too uncertain to refuse the node; undefined if it is certain. */
function doubtAbout(
  { daemonSet, places, status }: KnownStatus,
  node: string,
  { notSynced, notObservedSince }: Doubts,
): NetworkStatus | undefined {
  const name = `DaemonSet ${places.map(nameOf).join(' or ')}`;
  if (places.some(notSynced)) return notListed(`pods of ${name}`);
  if (daemonSet === undefined)
    return { kind: 'unknown', reason: 'daemonset-unknown', why: `${name} does not exist` };
  if (status === undefined)
    return { kind: 'unknown', reason: 'node-unknown', why: `node ${node} is not known` };
  return status.state === 'absent' && notObservedSince(daemonSet, node)
    ? notListed(`pods of ${name} on node ${node}`)
    : undefined;
}

const notListed = (what: string): NetworkStatus => ({
  kind: 'unknown',
  reason: 'not-synced',
  why: `not listed yet: ${what}`,
});

/** What the proofs on a node show about a profile's network, and whether the asking pod may be bound as a probe. */
export interface ProofStatus {
  /**
   * - `proved`: nothing counts against the network;
   * - `unproved`: no proof has passed there since the node or a container of its DaemonSets' pods started;
   * - `failing`: pods of at least two owners failed or got no sandbox, or two attempts of the asking pod's owner
   *   failed, and no proof has passed since.
   */
  state: 'proved' | 'unproved' | 'failing';
  /** Why, as a text that changes only with the cause; empty for `proved`. */
  reason: string;
  /** When the state began, in milliseconds since the epoch: with the node, a container of the network or a failure. */
  since: number;
  /** Whether the asking pod may be bound: if the network is proved, or if the pod may probe it now. */
  mayProbe: boolean;
}

/** How many owners have to fail before a node counts as failing. A single owner may fail for a reason of its own. */
const enoughOwners = 2;

/** How many attempts of one owner have to fail before the node counts as failing for that owner. */
const enoughAttempts = 2;

const proved: ProofStatus = { state: 'proved', reason: '', since: 0, mayProbe: true };

const neverProved = 'no pod has proved its network there yet';
const notSince = "no pod has proved its network there since the node or the network's pod started";

interface ProofFacts {
  policy: Pick<Policy, 'evidenceOf'>;
  readiness: Pick<Readiness, 'node' | 'started'>;
  evidence: EvidenceView;
}

/** What the proofs on a node show about a profile; undefined until all pods are listed, and for an unknown node. */
export function proofStatus(
  profile: Profile,
  node: string,
  { policy, readiness, evidence }: ProofFacts,
  now: number,
  asking?: AskingPod,
): ProofStatus | undefined {
  const createdAt = readiness.node(node)?.createdAt;
  if (!evidence.synced || createdAt === undefined) return undefined;
  const mode = policy.evidenceOf(profile);
  const record = evidence.of(profile.name, node);
  // the usual case: nothing counts against the node, and the profile requires no proof
  if (mode === 'ready' && record?.quiet !== false) return proved;
  const from = readiness.started(profile.daemonSets.flatMap(placesOf), node);
  const since = Math.max(from.at, createdAt);
  const holder = evidence.reservations.holder(profile.name, node, now);
  const isHolder = asking?.key !== undefined && (holder === asking.key || holder === asking.owner);
  const isFree = holder === undefined || isHolder;
  if (record === undefined) return { state: 'unproved', reason: neverProved, since, mayProbe: isFree };
  const runsElsewhere = (): boolean =>
    !isDaemonSet(asking?.owner ?? '') &&
    [...evidence.ownedBy(asking?.owner ?? '')].some(
      (pod) => pod.node !== node && verdictAt(pod, now) === 'passed',
    );
  const { hasPassed } = evidence;
  const { against, mayProbe } = assess(record, { from, now, asking, hasPassed, runsElsewhere }, isHolder);
  const own = asking && record.failures.get(asking.owner);
  const isOwn = own !== undefined && own.attempts >= enoughAttempts && !isLater(from, own.started);
  if (against.length >= enoughOwners || isOwn) {
    const reason = `proofs say that the network does not work: ${against.slice(0, enoughOwners).join(', ')}`;
    const failingSince = Math.max(since, record.failingSince);
    return { state: 'failing', reason, since: failingSince, mayProbe: isFree && mayProbe };
  }
  const isProved = record.lastPass !== undefined && isLater(record.lastPass, from);
  if (mode === 'ready' || isProved) return proved;
  const reason = record.lastPass === undefined ? neverProved : notSince;
  return { state: 'unproved', reason, since, mayProbe: isFree && mayProbe };
}
