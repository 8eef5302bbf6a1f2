import type { NodeFacts } from '../../nodes/readiness/facts.ts';
import { fits } from '../../nodes/scheduling/amounts.ts';
import { matchesNode } from '../../nodes/scheduling/node-selector.ts';
import { zoneLabel } from '../../nodes/scheduling/required.ts';
import { type Taint, toleratesAll } from '../../nodes/scheduling/taints.ts';
import type { Gate } from './accepts.ts';
import type { PendingPod } from './pending-pod.ts';

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
  { profiles, constraints, tolerations, requests }: PendingPod,
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
  { profiles }: Pick<PendingPod, 'profiles'>,
): string {
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  const parts = Object.entries(filters).flatMap(([reason, text]) => {
    const count = counts.get(reason as FilterReason);
    return count === undefined ? [] : `${count} ${text(profiles.join(', '))}`;
  });
  return `${total} ${total === 1 ? 'node' : 'nodes'}: ${parts.join(', ')}`;
}
