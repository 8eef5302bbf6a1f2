import type { ApiClient } from '../cluster/client.ts';
import { clusterMetrics } from '../cluster/metrics.ts';
import { watchNamespaces } from '../cluster/view/watch-namespaces.ts';
import { watchGate } from '../cluster/view/watch-nodes.ts';
import type { ClusterView } from '../core/cluster-view.ts';
import type { Policy } from '../core/profiles/policy.ts';
import { startLeading } from '../leader/start.ts';
import type { Deps } from '../lib/deps.ts';

/** How long, in milliseconds, a new replica may stay unready because it does not know all nodes and pods yet. */
const patience = 10_000;

/**
 * Watches a cluster, and does the leader's work while this replica leads. If the API server does not answer, there is
 * no error: {@link ClusterView.unready} says why cni-gate waits.
 * @param ownNamespace namespace of the Lease; without one, this replica never leads
 */
export function watchCluster(
  client: ApiClient,
  policy: () => Policy,
  deps: Deps,
  ownNamespace: string | undefined,
): ClusterView {
  const { registry, log } = deps;
  const inside = { metrics: clusterMetrics(registry), log };
  const namespaces = watchNamespaces(client, inside);
  const nodes = watchGate(client, policy, inside, namespaces.optedIn);
  const endLeading = startLeading(client, { view: nodes, policy }, ownNamespace, deps);
  const started = performance.now();
  const unsynced = (): string | undefined => {
    if (performance.now() - started >= patience) return undefined;
    const missing = nodes.unsynced() ?? (nodes.evidence.synced ? undefined : 'pods on nodes');
    return missing === undefined ? undefined : `not known yet: ${missing}`;
  };
  return {
    ...nodes,
    namespaces: namespaces.value,
    unready: () => namespaces.unready() ?? unsynced(),
    close: async () => {
      await endLeading();
      await Promise.all([namespaces.close(), nodes.close()]);
      client.close();
    },
  };
}
