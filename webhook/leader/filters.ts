import type { Taint } from '../core/facts/api.ts';
import type { NodeFacts } from '../core/facts/node.ts';
import {
  decisiveStatus,
  type NetworkFacts,
  type NetworkStatus,
  networkStatus,
} from '../core/networks/network-status.ts';
import type { AskingPod } from '../core/networks/proof-status.ts';
import type { Policy } from '../core/profiles/policy.ts';
import { matchesNode, type Required, toleratesAll, zoneLabel } from '../core/scheduling/constraints.ts';
import { type Amounts, fits } from '../core/scheduling/requests.ts';

export type Gate = (profiles: readonly string[], node: string) => NetworkStatus;

/**
 * Returns a function that decides as the gate would, from the data of this process.
 * @param now milliseconds since the epoch
 * @param asking the pod that would be bound; undefined for no particular pod
 */
export const gateBy =
  (facts: NetworkFacts & { policy: Pick<Policy, 'profiles'> }, now: number, asking?: AskingPod): Gate =>
  (profiles, node) =>
    decisiveStatus(
      profiles
        .flatMap((name) => facts.policy.profiles.get(name) ?? [])
        .map((profile) => networkStatus(profile, node, facts, now, asking)),
    );

export interface PodToPlace extends Required {
  profiles: readonly string[];
  requests: Amounts;
}

/** The filters in the order of {@link filterNode}, each with the text about a node that does not pass it. */
const filters = {
  notReady: (profiles: string) => `not ready for ${profiles}`,
  taints: () => 'with a taint that the pod does not tolerate',
  selector: () => 'outside the node selector or the node affinity',
  tooSmall: () => 'too small',
  zone: () => 'in another zone than the volumes',
  full: () => 'without free capacity',
};

export type FilterReason = keyof typeof filters;

/** The taint of a cordoned node, as in the scheduler's plugin NodeUnschedulable. */
const cordon: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/**
 * Returns the first filter that rejects a node. Free capacity, which depends on the node's pods, is not checked here.
 * @param zone the zone in which the pod's volumes can be used; undefined for any zone
 */
export function filterNode(
  { profiles, constraints, tolerations, requests }: PodToPlace,
  node: NodeFacts,
  gate: Gate,
  zone: string | undefined,
): FilterReason | undefined {
  if (gate(profiles, node.name).kind === 'blocked') return 'notReady';
  if (!toleratesAll(tolerations, node.unschedulable ? [...node.taints, cordon] : node.taints))
    return 'taints';
  if (!matchesNode(constraints, node)) return 'selector';
  if (!fits(requests, node.allocatable)) return 'tooSmall';
  return zone === undefined || node.labels[zoneLabel] === zone ? undefined : 'zone';
}

/** A message such as `3 nodes: 2 not ready for mesh, 1 too small`. */
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
