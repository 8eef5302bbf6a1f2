import { noneYet, openStates, type State } from '../../core/networks/daemon-set-status.ts';
import { Evidence } from '../../core/networks/evidence.ts';
import { proofStatus } from '../../core/networks/network-status.ts';
import type { Readiness } from '../../core/networks/readiness.ts';
import type { Policy } from '../../core/profiles/policy.ts';
import type { DaemonSetRef, Profile } from '../../core/profiles/types.ts';
import { timeText } from '../../lib/time-text.ts';
import type { PodFacts } from '../facts/pods.ts';

/** What a network is known by: a DaemonSet with the profiles that name it, or a profile without one. */
interface Network {
  daemonSet?: DaemonSetRef;
  profiles: Profile[];
}

function networksOf({ profiles }: Policy): Network[] {
  const found = new Map<string, Network>();
  for (const profile of profiles.values()) {
    if (profile.daemonSets.length === 0) found.set(profile.name, { profiles: [profile] });
    for (const daemonSet of profile.daemonSets) {
      const key = `${daemonSet.namespace}/${daemonSet.name}`;
      found.set(key, { daemonSet, profiles: [...(found.get(key)?.profiles ?? []), profile] });
    }
  }
  return [...found.values()];
}

/** A network on a node. */
interface NodeStatus {
  node: string;
  /** `namespace/name`; null for a profile without a DaemonSet. */
  daemonSet: string | null;
  state: State;
  /** RFC 3339; null where the cluster does not say. */
  since: string | null;
  /** The DaemonSet's pod there. */
  pod: string | null;
  /** What is missing; empty where nothing is. */
  why: string;
  /** Whether a label asks for one of its profiles. */
  inUse: boolean;
}

/**
 * The networks of the configuration that are there or asked for, and what DaemonSets and proofs say of them on nodes.
 *
 * @param used the profiles that labels ask for
 * @param all nodes that are ready or exempt as well
 * @param whole whether the pods of all namespaces are known
 * @returns `unproved`: how many nodes no pod that is there proves, for a profile that is asked for. The replicas may
 *   remember one that is gone, so only they know which nodes are in the state of that name
 */
export function judgeNodes(
  policy: Policy,
  readiness: Readiness,
  pods: readonly PodFacts[],
  used: ReadonlySet<string>,
  { now, all, whole }: { now: number; all: boolean; whole: boolean },
) {
  const evidence = evidenceOf(policy, pods, now);
  /** What the proofs of profiles make of an open state; of `exempt` only that proofs fail there. */
  const refine = (profiles: readonly Profile[], node: string, state: State) => {
    if (!openStates.has(state)) return undefined;
    const proofs = profiles.flatMap(
      (profile) => proofStatus(profile, node, { policy, readiness, evidence }, now) ?? [],
    );
    const failing = proofs.find((proof) => proof.state === 'failing');
    if (failing !== undefined) return { state: 'failing' as const, reason: failing.reason };
    const isShown = !whole || state === 'exempt' || proofs.every((proof) => proof.state === 'proved');
    return isShown ? undefined : { state, reason: notShown };
  };
  const nodeNames = [...readiness.nodes()].map(({ name }) => name).toSorted(compare);
  const daemonSets = [];
  const unproved = new Set<string>();
  const nodes: NodeStatus[] = [];
  for (const { daemonSet, profiles } of networksOf(policy)) {
    const names = profiles.map(({ name }) => name);
    const inUse = names.some((name) => used.has(name));
    const exists = daemonSet !== undefined && readiness.knows(daemonSet);
    // one that is neither there nor asked for is a profile that this cluster has no use for
    if (!inUse && !exists) continue;
    const counts = noneYet();
    for (const node of nodeNames) {
      const found = daemonSet && readiness.status(daemonSet, node, now, policy.gate.startupGrace);
      if (daemonSet !== undefined && found === undefined) continue;
      const proof = refine(profiles, node, found?.state ?? 'ready');
      const shown = proof ?? found;
      if (shown === undefined) continue;
      const { state, reason } = shown;
      counts[state] += 1;
      if (inUse && reason === notShown) unproved.add(node);
      if (!all && openStates.has(state)) continue;
      nodes.push({
        node,
        daemonSet: daemonSet ? `${daemonSet.namespace}/${daemonSet.name}` : null,
        state,
        // the DaemonSet's time is not that of the proofs
        since: proof?.state === 'failing' ? null : textOf(found?.since),
        pod: found?.pod ?? null,
        why: daemonSet ? reason : `profile ${names.join()}: ${reason}`,
        inUse,
      });
    }
    if (daemonSet) daemonSets.push({ ...daemonSet, profiles: names, inUse, exists, nodes: counts });
  }
  return {
    daemonSets,
    // in the order of names, and of DaemonSets for one node
    nodes: nodes.toSorted((one, other) => rank(one) - rank(other) || compare(one.node, other.node)),
    unproved: unproved.size,
  };
}

/** Why it is not known whether an open node is `unproved`. */
const notShown = 'no pod that is there shows a proof, and the replicas may know of one that is gone';

/** What the pods of a moment say about the networks of their nodes. Failures of pods that are gone are not in it. */
function evidenceOf(policy: Policy, pods: readonly PodFacts[], now: number): Evidence {
  const evidence = new Evidence((name) => policy.profiles.has(name));
  evidence.apply(
    pods.flatMap(({ evidence: pod }) => (pod ? [{ type: 'put' as const, pod, listed: true }] : [])),
    now,
  );
  evidence.markSynced();
  return evidence;
}

/** The nodes that are closed for a profile that labels ask for. */
export const notReady = (nodes: readonly NodeStatus[]): NodeStatus[] =>
  nodes.filter(({ inUse, state }) => inUse && !openStates.has(state));

/** States to act on first, those that pass by themselves later, and networks that are not in use last. */
const urgency: readonly State[] = ['broken', 'failing', 'absent', 'rebooted', 'starting', 'ready', 'exempt'];

const rank = ({ state, inUse }: { state: State; inUse: boolean }): number =>
  urgency.indexOf(state) + (inUse ? 0 : urgency.length);

/** By code units, so that the order is the same everywhere. */
export const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

/** RFC 3339; null where the time is not known. */
export const textOf = (time: number | undefined): string | null =>
  time === undefined ? null : timeText(time);
