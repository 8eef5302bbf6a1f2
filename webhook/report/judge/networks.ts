import { noneYet, openStates, type State } from '../../core/networks/daemon-set-status.ts';
import { Evidence } from '../../core/networks/evidence.ts';
import { proofStatus } from '../../core/networks/proof-status.ts';
import type { Readiness } from '../../core/networks/readiness.ts';
import { type DaemonSetRef, type Profile, placesOf } from '../../core/profiles/types.ts';
import { nameOf } from '../../lib/names.ts';
import { timeText } from '../../lib/time-text.ts';
import type { StatusFacts } from '../observe/observe.ts';
import { compare, profilesInUse } from './namespaces.ts';

/** A DaemonSet with the profiles that name it, or a profile that names no DaemonSet. */
interface Network {
  daemonSet?: DaemonSetRef;
  profiles: Profile[];
}

/** The state of a network on a node. */
export interface NetworkRow {
  node: string;
  /** `namespace/name`; null for a profile without a DaemonSet. */
  daemonSet: string | null;
  state: State;
  /** RFC 3339; null where the time is not known. */
  since: string | null;
  /** The DaemonSet's pod on the node. */
  pod: string | null;
  /** What is missing on the node; empty where nothing is. */
  why: string;
  /** Whether the label of a namespace or pod names one of the network's profiles. */
  inUse: boolean;
}

/** Said of a ready node if no existing pod proves its network: the replicas may remember a deleted pod's proof. */
const notShown = 'no existing pod shows a proof, but the replicas may remember the proof of a deleted pod';

/**
 * The networks of the configuration that exist or are in use, on each node, the worst state first.
 *
 * @param now milliseconds since the epoch
 */
export function networkRows(facts: StatusFacts, now: number) {
  const { readiness, configuration } = facts;
  const used = profilesInUse(facts);
  const stateOf = networkJudge(facts, now);
  const nodes = [...readiness.nodes()].map(({ name }) => name).toSorted(compare);
  const daemonSets = [];
  const rows: NetworkRow[] = [];
  const unproved = new Set<string>();
  for (const network of networksOf(configuration.policy.profiles.values(), readiness)) {
    const { daemonSet } = network;
    const profiles = network.profiles.map(({ name }) => name);
    const inUse = profiles.some((name) => used.has(name));
    const exists = daemonSet !== undefined && readiness.knows(daemonSet);
    // a network that neither exists nor is used is left out, as every cluster has built-in profiles it does not need
    if (!inUse && !exists) continue;
    const counts = noneYet();
    for (const node of nodes) {
      const status = stateOf(network, node);
      if (status === undefined) continue;
      const { state, since, pod = null, reason } = status;
      counts[state] += 1;
      if (inUse && reason === notShown) unproved.add(node);
      const why = daemonSet ? reason : [`profile ${profiles.join()}`, reason].filter(Boolean).join(': ');
      const name = daemonSet ? nameOf(daemonSet) : null;
      rows.push({ node, daemonSet: name, state, since: textOf(since), pod, why, inUse });
    }
    if (daemonSet) daemonSets.push({ ...daemonSet, profiles, inUse, exists, nodes: counts });
  }
  return {
    daemonSets,
    // sorted by state, then by node name; the rows of one node stay in the order of the DaemonSets
    rows: rows.toSorted((left, right) => rank(left) - rank(right) || compare(left.node, right.node)),
    // the number of nodes with a used profile that no existing pod proves
    unproved: unproved.size,
  };
}

/** The networks of these profiles. If a DaemonSet exists in some of its possible namespaces, only those count. */
function networksOf(profiles: Iterable<Profile>, readiness: Pick<Readiness, 'knows'>): Network[] {
  const networks = new Map<string, Network>();
  for (const profile of profiles) {
    if (profile.daemonSets.length === 0) networks.set(profile.name, { profiles: [profile] });
    const places = profile.daemonSets.map(placesOf).flatMap((all) => {
      const existing = all.filter((place) => readiness.knows(place));
      return existing.length > 0 ? existing : all;
    });
    for (const daemonSet of places) {
      const key = nameOf(daemonSet);
      networks.set(key, { daemonSet, profiles: [...(networks.get(key)?.profiles ?? []), profile] });
    }
  }
  return [...networks.values()];
}

/**
 * Returns a function that judges a network on a node, by its DaemonSet and by the pods that exist now; proofs of
 * deleted pods are not known. The function returns undefined if the DaemonSet has no state on the node.
 */
function networkJudge({ configuration: { policy }, readiness, pods, namespace }: StatusFacts, now: number) {
  const evidence = new Evidence((name) => policy.profiles.has(name));
  const seen = pods.found.flatMap(({ evidence: pod }) => pod ?? []);
  evidence.apply(
    seen.map((pod) => ({ type: 'put' as const, pod, listed: true })),
    now,
  );
  evidence.markSynced();
  return ({ daemonSet, profiles }: Network, node: string) => {
    const found = daemonSet && readiness.status(daemonSet, node, now, policy.gate.startupGrace);
    if (daemonSet !== undefined && found === undefined) return undefined;
    const state = found?.state ?? 'ready';
    if (!openStates.has(state)) return found;
    const proofs = profiles.flatMap(
      (profile) => proofStatus(profile, node, { policy, readiness, evidence }, now) ?? [],
    );
    const failing = proofs.find((proof) => proof.state === 'failing');
    // without the time of the DaemonSet's state, because the proofs failed later
    if (failing) return { ...found, state: 'failing' as const, reason: failing.reason, since: undefined };
    // if only one namespace was read, a pod of another namespace may prove the network
    const isShown =
      namespace !== undefined || state === 'exempt' || proofs.every((proof) => proof.state === 'proved');
    return isShown ? found : { ...found, state, reason: notShown };
  };
}

/** Whether a network that is in use is not ready on the row's node. */
export const isNotReady = ({ inUse, state }: NetworkRow): boolean => inUse && !openStates.has(state);

/** All states: first those that need action, then those that end without action, and last `ready` and `exempt`. */
export const urgency = 'broken failing absent rebooted starting unproved ready exempt'.split(' ') as State[];

/** The sort key of a row: networks that are not in use come last. */
const rank = ({ state, inUse }: NetworkRow): number => urgency.indexOf(state) + (inUse ? 0 : urgency.length);

/** RFC 3339; null where the time is not known. */
export const textOf = (time: number | undefined): string | null =>
  time === undefined ? null : timeText(time);
