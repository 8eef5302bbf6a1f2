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

/** The taint of a cordoned node, as in the scheduler's plugin NodeUnschedulable. */
const cordon: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/**
 * Whether a node can take a pod. Ignores the node's network, and the capacity that other pods already use.
 * @param zone the zone in which the pod's volumes can be used; undefined for any zone
 */
export function canTake(
  node: NodeFacts,
  { constraints, tolerations }: Required,
  requests: Amounts,
  zone: string | undefined,
): boolean {
  const taints = node.unschedulable ? [...node.taints, cordon] : node.taints;
  const isInZone = zone === undefined || node.labels[zoneLabel] === zone;
  return (
    toleratesAll(tolerations, taints) &&
    matchesNode(constraints, node) &&
    fits(requests, node.allocatable) &&
    isInZone
  );
}
