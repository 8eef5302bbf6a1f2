import type { PendingPod } from './pending-pod.ts';

/** What of a pod that waits is compared with nodes and with other pods. */
type Asked = Pick<PendingPod, 'constraints' | 'tolerations' | 'requests' | 'neighbours'>;

/**
 * In how many terms a pod asks for its node: each is compared with every node, so `planLimits.terms` bounds them. A
 * list of values counts once.
 */
export function countTerms({
  constraints,
  tolerations,
  requests,
  neighbours: { spread, apart },
}: Asked): number {
  const required = constraints.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const affinity = required?.nodeSelectorTerms ?? [];
  const others = [...spread.map(({ selects }) => selects), ...apart];
  return (
    Object.keys(constraints.nodeSelector ?? {}).length +
    sizeOf(affinity.map((term) => [...(term.matchExpressions ?? []), ...(term.matchFields ?? [])])) +
    tolerations.length +
    Object.keys(requests).length +
    sizeOf(others)
  );
}

/** An empty list is compared as well. */
const sizeOf = (lists: readonly (readonly unknown[])[]): number =>
  lists.reduce((sum, { length }) => sum + Math.max(1, length), 0);
