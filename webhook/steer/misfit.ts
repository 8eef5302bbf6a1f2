import type { NodeFacts } from '../readiness/facts.ts';
import { type Amounts, fits } from '../scheduling/amounts.ts';
import { matchesNode } from '../scheduling/node-selector.ts';
import type { Required } from '../scheduling/required.ts';
import { type Taint, toleratesAll } from '../scheduling/taints.ts';

/**
 * Why a node does not fit a pod:
 * - `not-ready`: a DaemonSet of the pod's profiles is not ready there;
 * - `taints`: it is cordoned, or has a taint that the pod does not tolerate;
 * - `affinity`: the pod's node selector or node affinity excludes it;
 * - `size`: the pod requests more than the empty node has;
 * - `volumes`: it is in another zone than the pod's volumes;
 * - `ignored`: the scheduler ignored a nomination for it;
 * - `full`: the free capacity is too small, or it gets one pod at a time and another one is nominated for it.
 */
export type Misfit = (typeof misfits)[number];
/** All of {@link Misfit}, in the order in which people read them. */
export const misfits = ['not-ready', 'taints', 'affinity', 'size', 'volumes', 'ignored', 'full'] as const;

/** How many nodes do not fit a pod, by reason. A reason without nodes is absent. */
export type MisfitCounts = Partial<Record<Misfit, number>>;

/**
 * Why a plan nominates no node for a waiting pod:
 * - `leaving`: the pod is being deleted;
 * - `too-large`: its requirements are too long to be kept;
 * - `node-ready`: the node that refused it is ready now, so the next attempt works;
 * - `under-way`: the pod has an open nomination, by cni-gate or by somebody else;
 * - `pause`: the pod or its controller's pods pause after an ignored nomination;
 * - `usage-unknown`: the free capacity of `nodes` is not known;
 * - `no-node`: no node fits. `misfits` counts the nodes that were compared, the refused one among them.
 */
export type PassedOver =
  | { why: 'leaving' | 'too-large' | 'node-ready' | 'under-way' | 'pause' }
  | { why: 'usage-unknown'; nodes: readonly string[] }
  | { why: 'no-node'; misfits: MisfitCounts };

/** A pod that does not tolerate this does not fit a cordoned node. Source: Kubernetes, plugin NodeUnschedulable. */
const cordon: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** Why the node would not fit the pod if it were empty; undefined where it would. */
export function misfitOf(
  { constraints, tolerations, requests }: Required & { requests: Amounts },
  node: NodeFacts,
): 'taints' | 'affinity' | 'size' | undefined {
  const taints = node.unschedulable ? [...node.taints, cordon] : node.taints;
  if (!toleratesAll(tolerations, taints)) return 'taints';
  if (!matchesNode(constraints, node)) return 'affinity';
  return fits(requests, node.allocatable) ? undefined : 'size';
}
