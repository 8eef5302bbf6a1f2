import type { Audited, Cluster } from '../../cluster/harness/cluster.ts';

export interface Deletion {
  by: string;
  namespace: string;
  /** The pod's name; empty if a whole collection was deleted. */
  name: string;
  /** When the request arrived, in milliseconds since 1970. */
  at: number;
}

/** The service account of cni-gate. */
export const ownAccount = 'system:serviceaccount:cni-gate:cni-gate';

/** All successful deletions and evictions of pods, in order. */
export function deletionsIn(cluster: Cluster): Deletion[] {
  return cluster
    .audited()
    .filter(isDeletion)
    .map(({ user, objectRef, requestReceivedTimestamp }) => ({
      by: user.username,
      namespace: objectRef?.namespace ?? '',
      name: objectRef?.name ?? '',
      at: Date.parse(requestReceivedTimestamp),
    }))
    .toSorted((a, b) => a.at - b.at);
}

function isDeletion({ verb, objectRef, responseStatus }: Audited): boolean {
  if (objectRef?.resource !== 'pods' || (responseStatus?.code ?? 500) >= 300) return false;
  const { subresource } = objectRef;
  return subresource === undefined ? verb.startsWith('delete') : subresource === 'eviction';
}
