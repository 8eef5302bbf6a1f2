import type { NodeFacts } from '../core/facts/node.ts';
import { blockedBy } from '../core/networks/blocked.ts';
import { noEvidence } from '../core/networks/evidence.ts';
import type { Known } from '../core/networks/profile-proof.ts';
import type { Blocker } from '../core/networks/refusal.ts';
import type { Policy } from '../core/profiles/policy.ts';
import {
  matchesNode,
  type Required,
  type Taint,
  toleratesAll,
  zoneLabel,
} from '../core/scheduling/constraints.ts';
import { type Amounts, fits } from '../core/scheduling/requests.ts';

/** What the gate would answer about a pod and a node. */
export interface GateAnswer {
  /** Why it would refuse the pod; undefined if it would allow it. */
  blocker: Blocker | undefined;
  /** Whether it allows one pod at a time, to find out whether the network works there. */
  onePod: boolean;
}

/** What the gate would answer about a pod with these profiles on a node. */
export type Gate = (profiles: readonly string[], node: string) => GateAnswer;

/**
 * The gate, as the leader sees it. As at the gate, a DaemonSet that does not exist and a node that is gone block no pod.
 *
 * @param now milliseconds since the epoch
 */
export function gateBy(
  policy: Policy,
  { readiness, evidence = noEvidence }: Pick<Known, 'readiness'> & Partial<Known>,
  now: number,
): Gate {
  return (profiles, node) => {
    let onePod = false;
    for (const name of profiles) {
      const profile = policy.profiles.get(name);
      if (profile === undefined) continue;
      const { blocker, proofState } = blockedBy(profile, node, { readiness, evidence }, policy, { now });
      if (blocker !== undefined) return { blocker, onePod: false };
      onePod ||= proofState !== undefined;
    }
    return { blocker: undefined, onePod };
  };
}

/** A pod to find a node for. */
export interface PodToPlace extends Required {
  profiles: readonly string[];
  requests: Amounts;
}

/** The filters of {@link filterNode} in their order, and what a node that does not pass is called. */
const filters = {
  notReady: (profiles: string) => `not ready for ${profiles}`,
  taints: () => 'with a taint that the pod does not tolerate',
  selector: () => 'outside the node selector or the node affinity',
  tooSmall: () => 'too small',
  zone: () => 'in another zone than the volumes',
  full: () => 'without free capacity',
};

/** The name of a filter. */
export type FilterReason = keyof typeof filters;

/** A pod that does not tolerate this does not fit a cordoned node. Source: Kubernetes, plugin NodeUnschedulable. */
const cordon: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/**
 * The first filter that a node does not pass; undefined if it is ready for the pod and would fit it if it were empty.
 *
 * @param zone in which the pod's volumes can be used; undefined for any
 */
export function filterNode(
  { profiles, constraints, tolerations, requests }: PodToPlace,
  node: NodeFacts,
  gate: Gate,
  zone: string | undefined,
): FilterReason | undefined {
  if (gate(profiles, node.name).blocker !== undefined) return 'notReady';
  if (!toleratesAll(tolerations, node.unschedulable ? [...node.taints, cordon] : node.taints))
    return 'taints';
  if (!matchesNode(constraints, node)) return 'selector';
  if (!fits(requests, node.allocatable)) return 'tooSmall';
  return zone === undefined || node.labels[zoneLabel] === zone ? undefined : 'zone';
}

/** How many nodes did not pass each filter, for people: `3 nodes: 2 not ready for mesh, 1 too small`. */
export function filterText(
  counts: ReadonlyMap<FilterReason, number>,
  { profiles }: Pick<PodToPlace, 'profiles'>,
): string {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const parts = Object.entries(filters).flatMap(([reason, text]) => {
    const count = counts.get(reason as FilterReason);
    return count === undefined ? [] : `${count} ${text(profiles.join(', '))}`;
  });
  return `${total} ${total === 1 ? 'node' : 'nodes'}: ${parts.join(', ')}`;
}
