import { nameOf } from '../../lib/names.ts';
import type { Policy } from '../profiles/policy.ts';
import { type DaemonSetRef, type Profile, placesOf } from '../profiles/types.ts';
import { type DaemonSetStatus, openStates, type State } from './daemon-set-status.ts';
import type { EvidenceView } from './evidence.ts';
import { type AskingPod, proofStatus } from './proof-status.ts';
import type { Readiness } from './readiness.ts';

/** What the status of a network depends on. */
export interface NetworkFacts {
  policy: Pick<Policy, 'evidenceOf' | 'gate'>;
  readiness: Pick<Readiness, 'status' | 'knows' | 'node' | 'started'>;
  evidence: EvidenceView;
  /** What may be missing, for callers that must not refuse by mistake. If undefined, unknown DaemonSets are ignored. */
  doubts?: Doubts;
}

/** What may be missing in the data of the watches. */
export interface Doubts {
  /** Whether nodes, the DaemonSet or its pods are not listed yet: then a missing pod proves nothing. */
  notSynced(daemonSet: DaemonSetRef): boolean;
}

/** Why some or all pods may not use a network on a node. */
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
 * - `blocked`: a DaemonSet is not ready, or the network needs a proof and the asking pod may not probe it now, because
 *   another pod probes it, or a recent probe failed;
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
  const { state, reason, mayProbe } = proof;
  const pod = open?.status.pod;
  const problem: NetworkProblem = {
    ...{ node, profile: profile.name, daemonSet: open?.daemonSet, state, reason },
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

/** Why the state of a DaemonSet is too uncertain to refuse a pod; undefined if the state is certain. */
function doubtAbout(
  { daemonSet, places, status }: KnownStatus,
  node: string,
  { notSynced }: Doubts,
): NetworkStatus | undefined {
  const name = `DaemonSet ${places.map(nameOf).join(' or ')}`;
  if (places.some(notSynced)) return notListed(`pods of ${name}`);
  if (daemonSet === undefined)
    return { kind: 'unknown', reason: 'daemonset-unknown', why: `${name} does not exist` };
  if (status === undefined)
    return { kind: 'unknown', reason: 'node-unknown', why: `node ${node} is not known` };
  return undefined;
}

const notListed = (what: string): NetworkStatus => ({
  kind: 'unknown',
  reason: 'not-synced',
  why: `not listed yet: ${what}`,
});
