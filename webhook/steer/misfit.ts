import type { NodeFacts } from '../readiness/facts.ts';
import { fits } from '../scheduling/amounts.ts';
import { matchesNode } from '../scheduling/node-selector.ts';
import { type Taint, toleratesAll } from '../scheduling/taints.ts';
import type { PendingPod } from './pending-pod.ts';

/**
 * Why a node does not do for a pod:
 * - `not-ready`: a DaemonSet of the pod's profiles is not ready there;
 * - `taints`: it is cordoned, or has a taint that the pod does not tolerate;
 * - `affinity`: the pod's node selector or node affinity rules it out;
 * - `size`: the pod asks for more than the node has, even if it were empty;
 * - `volumes`: the pod's volumes cannot be used there;
 * - `neighbours`: the pods that are there rule it out, by anti-affinity or topology spread;
 * - `ignored`: the scheduler ignored a nomination for it;
 * - `full`: what is left of it is too little.
 */
export type Misfit = (typeof misfits)[number];
export const misfits = [
  'not-ready',
  'taints',
  'affinity',
  'size',
  'volumes',
  'neighbours',
  'ignored',
  'full',
] as const;

/** How many nodes do not do for a pod, by why; a reason that holds for none is absent. */
export type MisfitCounts = Partial<Record<Misfit, number>>;

/** A cordoned node turns away whoever does not tolerate this. Source: Kubernetes, plugin NodeUnschedulable. */
const cordon: Taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };

/** Why a node would not do for the pod if it were empty; undefined where it would. */
export function misfitOf(
  { constraints, tolerations, requests }: PendingPod,
  node: NodeFacts,
): 'taints' | 'affinity' | 'size' | undefined {
  const taints = node.unschedulable ? [...node.taints, cordon] : node.taints;
  if (!toleratesAll(tolerations, taints)) return 'taints';
  if (!matchesNode(constraints, node)) return 'affinity';
  return fits(requests, node.allocatable) ? undefined : 'size';
}
