import { isDaemonSet } from '../facts/pod-evidence.ts';
import type { Policy } from '../profiles/policy.ts';
import type { DaemonSetRef, Profile } from '../profiles/types.ts';
import { type AskingPod, assess } from './assess.ts';
import { type DaemonSetStatus, openStates, type State } from './daemon-set-status.ts';
import type { EvidenceView } from './evidence.ts';
import { isLater } from './moment.ts';
import type { Readiness } from './readiness.ts';

/** What decides about the networks of a cluster. */
export interface NetworkFacts {
  policy: Pick<Policy, 'evidenceOf' | 'gate'>;
  readiness: Pick<Readiness, 'status' | 'knows' | 'node' | 'started'>;
  evidence: EvidenceView;
  /** Who only refuses what is certain says what is not; without them, a DaemonSet that is not known does not count. */
  doubts?: Doubts;
}

/** What the watches may not have seen. */
export interface Doubts {
  /** Whether the absence of a pod of this DaemonSet proves nothing: the nodes, the DaemonSet or its pods are not listed. */
  notSynced(daemonSet: DaemonSetRef): boolean;
  /** Whether the pod list of this DaemonSet may predate the node, so a missing pod proves nothing. */
  notObservedSince(daemonSet: DaemonSetRef, node: string): boolean;
}

/** A network that is not in a state in which any pod may use it. */
export interface NetworkProblem extends DaemonSetStatus {
  node: string;
  profile: string;
  /** Undefined if the profile names none. */
  daemonSet: DaemonSetRef | undefined;
}

export type UnknownReason = 'not-synced' | 'node-unknown' | 'daemonset-unknown';

/**
 * Whether a pod may use the network of a profile on a node:
 * - `ready`: nothing counts against it;
 * - `exempt`: all its DaemonSets leave the node out;
 * - `try`: it has to be proved, and the asking pod may find out;
 * - `blocked`: a DaemonSet is not ready, or the network has to be proved and it is not the asking pod's turn;
 * - `unknown`: the watches do not show enough; `why` is for people.
 */
export type NetworkStatus =
  | { kind: 'ready' | 'exempt' }
  | ({ kind: 'try' | 'blocked' } & NetworkProblem)
  | { kind: 'unknown'; reason: UnknownReason; why: string };

/** A DaemonSet of a profile, and its status on a node; undefined if the node or the DaemonSet is unknown. */
interface KnownStatus {
  daemonSet: DaemonSetRef;
  status: DaemonSetStatus | undefined;
}

/**
 * The one answer to "may this pod use this network on this node?", which gate, steering, repair, metrics and reports
 * map to their words.
 * @param now milliseconds since the epoch
 * @param asking the pod that asks; undefined if no particular pod does
 */
export function networkStatus(
  profile: Profile,
  node: string,
  facts: NetworkFacts,
  now: number,
  asking?: AskingPod,
): NetworkStatus {
  let unknown: NetworkStatus | undefined;
  let open: { daemonSet: DaemonSetRef; status: DaemonSetStatus } | undefined;
  for (const { daemonSet, status } of daemonSetStatuses(profile, node, facts, now)) {
    const doubt = facts.doubts && doubtAbout({ daemonSet, status }, node, facts, facts.doubts);
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

/** The status that decides for a pod with several networks: the first kind below that one of them has. */
export function decisiveStatus(statuses: readonly NetworkStatus[]): NetworkStatus {
  for (const kind of ['blocked', 'unknown', 'try', 'ready', 'exempt']) {
    const status = statuses.find((candidate) => candidate.kind === kind);
    if (status !== undefined) return status;
  }
  return { kind: 'ready' };
}

/** Whether the proofs of pods block the network, and not a DaemonSet. */
export const hasToBeProved = ({ state }: DaemonSetStatus): boolean =>
  state === 'unproved' || state === 'failing';

const daemonSetStatuses = (
  { daemonSets }: Profile,
  node: string,
  { readiness, policy }: Pick<NetworkFacts, 'readiness' | 'policy'>,
  now: number,
): KnownStatus[] =>
  daemonSets.map((daemonSet) => ({
    daemonSet,
    status: readiness.status(daemonSet, node, now, policy.gate.startupGrace),
  }));

/** The states of a profile's known DaemonSets on a node. Proofs that block the network replace an open state. */
export function statesOn(
  profile: Profile,
  node: string,
  facts: NetworkFacts,
  now: number,
): { daemonSet: DaemonSetRef; state: State }[] {
  const proof = proofStatus(profile, node, facts, now);
  const byProof = proof === undefined || proof.state === 'proved' ? undefined : proof.state;
  return daemonSetStatuses(profile, node, facts, now).flatMap(({ daemonSet, status }) => {
    if (status === undefined) return [];
    const isOpen = openStates.has(status.state);
    return [{ daemonSet, state: isOpen ? (byProof ?? status.state) : status.state }];
  });
}

/** Why the status of a DaemonSet cannot be relied on to refuse the node; undefined if it can. */
function doubtAbout(
  { daemonSet, status }: KnownStatus,
  node: string,
  { readiness }: NetworkFacts,
  { notSynced, notObservedSince }: Doubts,
): NetworkStatus | undefined {
  const name = `DaemonSet ${daemonSet.namespace}/${daemonSet.name}`;
  if (notSynced(daemonSet)) return notListed(`pods of ${name}`);
  if (status === undefined) {
    return readiness.knows(daemonSet)
      ? { kind: 'unknown', reason: 'node-unknown', why: `node ${node} is not known` }
      : { kind: 'unknown', reason: 'daemonset-unknown', why: `${name} does not exist` };
  }
  return status.state === 'absent' && notObservedSince(daemonSet, node)
    ? notListed(`pods of ${name} on node ${node}`)
    : undefined;
}

const notListed = (what: string): NetworkStatus => ({
  kind: 'unknown',
  reason: 'not-synced',
  why: `not listed yet: ${what}`,
});

/** What the proofs on a node say of a profile, and whether one more pod may be bound there to find out. */
export interface ProofStatus {
  /**
   * - `proved`: nothing counts against it;
   * - `unproved`: no proof has passed there since the node or a container of its DaemonSets' pods started;
   * - `failing`: pods of at least two owners failed or got no sandbox, or two attempts of the asking pod's owner failed, and
   *   none passed since.
   */
  state: 'proved' | 'unproved' | 'failing';
  /** Why, as text that is the same at each evaluation. Empty for `proved`. */
  reason: string;
  /** Since when: the start of the node or of its network's containers, or the first failure. Milliseconds since the epoch. */
  since: number;
  /** Whether the asking pod may be bound: the node is proved, or it is the pod's turn to try. */
  mayProbe: boolean;
}

/** How many owners have to fail before a node counts as failing: one may fail for its own sake. */
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

/** What the proofs on a node say of a profile; undefined while the pods are not listed yet, and for an unknown node. */
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
  // nothing counts against the node, and nothing is required: most profiles on most nodes
  if (mode === 'ready' && record?.quiet !== false) return proved;
  const from = readiness.started(profile.daemonSets, node);
  const since = Math.max(from.at, createdAt);
  const holder = evidence.reservations.holder(profile.name, node, now);
  const isHolder = asking?.key !== undefined && (holder === asking.key || holder === asking.owner);
  const isFree = holder === undefined || isHolder;
  if (record === undefined) return { state: 'unproved', reason: neverProved, since, mayProbe: isFree };
  const runsElsewhere = (): boolean =>
    !isDaemonSet(asking?.owner ?? '') &&
    [...evidence.ownedBy(asking?.owner ?? '')].some((pod) => pod.node !== node && pod.verdict === 'passed');
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
