import { apiPath } from '../../cluster/api-path.ts';
import type { ApiClient } from '../../cluster/client.ts';
import { ClusterError } from '../../cluster/errors.ts';
import type { Controller, PodEvidence } from '../../core/facts/pod-evidence.ts';
import type { EvidenceView } from '../../core/networks/evidence.ts';
import { getOrMake } from '../../lib/maps.ts';
import { isOf, ordinalOf } from './decide.ts';

interface StatefulSet {
  metadata: { uid: string };
  spec: { podManagementPolicy?: string };
}

/**
 * Finds StatefulSets that create their pods in order: with the default `podManagementPolicy: OrderedReady`, they create
 * no pod while a pod with a lower ordinal is not ready.
 */
export function statefulSets(client: ApiClient, evidence: Pick<EvidenceView, 'ownedBy'>) {
  /** Whether a StatefulSet with a failed pod creates its pods in order; by {@link PodEvidence.owner}. */
  const ordered = new Map<string, boolean>();
  const lowest = new Map<string, number>();
  return {
    /** Reads the StatefulSet of a failed pod once. Throws a ClusterError if the API server does not answer. */
    read: async ({ owner, namespace, controller }: PodEvidence): Promise<void> => {
      if (controller === undefined || !isOf(controller, 'StatefulSet') || ordered.has(owner)) return;
      ordered.set(owner, await isOrdered(client, namespace, controller));
    },
    /**
     * The lowest ordinal whose pod keeps the StatefulSet from creating later pods: its proof has not passed (unless in
     * warn mode), or it is unready; undefined if pods are not created in order.
     */
    lowest: ({ owner }: PodEvidence): number | undefined => {
      if (ordered.get(owner) !== true) return undefined;
      return getOrMake(lowest, owner, () => {
        const waiting = ({ verdict, warned, unready }: PodEvidence): boolean =>
          (verdict !== 'passed' && !warned) || unready !== undefined;
        return Math.min(...[...evidence.ownedBy(owner)].filter(waiting).map(ordinalOf));
      });
    },
    changed: (owner: string): void => {
      lowest.delete(owner);
      if (evidence.ownedBy(owner).next().done) ordered.delete(owner);
    },
  };
}

/** A StatefulSet that is missing, forbidden (403) or has another UID counts as ordered; other errors are thrown. */
async function isOrdered(client: ApiClient, namespace: string, { name, uid }: Controller): Promise<boolean> {
  const path = apiPath`/apis/apps/v1/namespaces/${namespace}/statefulsets/${name}`;
  try {
    const found = await client.get<StatefulSet>(path, { timeout: 5000 });
    return found?.metadata.uid !== uid || found.spec.podManagementPolicy !== 'Parallel';
  } catch (error) {
    if (error instanceof ClusterError && error.status === 403) return true;
    throw error;
  }
}
