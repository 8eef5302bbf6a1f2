import type { PendingPod } from '../../core/facts/pending-pod.ts';

export type PendingIndex = ReturnType<typeof pendingIndex>;

/** Indexes the pods that wait for a node: by key, and by nominated node. */
export function pendingIndex(pending: () => Iterable<PendingPod>) {
  let index: Record<'byKey' | 'byNode', Map<string, PendingPod[]>> | undefined;
  const read = () => {
    if (index !== undefined) return index;
    const pods = [...pending()];
    const nominated = pods.filter((pod) => pod.nominated !== '');
    index = {
      byKey: Map.groupBy(pods, ({ key }) => key),
      byNode: Map.groupBy(nominated, (pod) => pod.nominated),
    };
    return index;
  };
  return {
    /** Must be called when pods have changed, so that the next read rebuilds the index. */
    changed: (): void => {
      index = undefined;
    },
    refused: (): string[] =>
      [...read().byKey].flatMap(([key, pods]) =>
        pods.some(({ refused }) => refused !== undefined) ? key : [],
      ),
    of: (key: string): readonly PendingPod[] => read().byKey.get(key) ?? [],
    nominatedFor: (node: string): readonly PendingPod[] => read().byNode.get(node) ?? [],
  };
}
