import type { Audited, Cluster } from '../../cluster/harness/cluster.ts';

export interface Deletion {
  by: string;
  namespace: string;
  /** Empty for a whole collection. */
  name: string;
  /** When the request arrived, in milliseconds since 1970. */
  at: number;
}

/** cni-gate's own account. */
export const ownAccount = 'system:serviceaccount:cni-gate:cni-gate';

/** Deletions and evictions of pods, in their order; needs a cluster with the option `audit`. */
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
