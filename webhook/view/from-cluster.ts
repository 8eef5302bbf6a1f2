import type { Policy } from '../config/policy.ts';
import type { ApiClient } from '../kubernetes/client.ts';
import { ClusterMetrics } from '../kubernetes/metrics.ts';
import { type SteerInside, startSteering } from '../steer/start.ts';
import { type NamespaceView, watchNamespaces } from './watch-namespaces.ts';
import { type GateView, watchGate } from './watch-nodes.ts';

/** Everything that the server goes by, kept by watches of one cluster. */
export interface ClusterConnection {
  namespaces: NamespaceView;
  gate: GateView;
  /** Why no calls should come here yet; undefined when they may. */
  unready(): string | undefined;
  close(): Promise<void>;
}

/**
 * How long a new replica leaves the gate to those that know the nodes already, in milliseconds. No longer: pods are
 * admitted without knowing any node, and the gate lets through what it cannot know.
 */
const patience = 10_000;

/** Begins to watch a cluster, and to steer pods in it where this replica leads. One that does not answer is waited for, and is no error. */
export function watchCluster(
  client: ApiClient,
  policy: () => Policy,
  { registry, log, ownNamespace }: SteerInside,
): ClusterConnection {
  const inside = { metrics: new ClusterMetrics(registry), log };
  const namespaces = watchNamespaces(client, inside);
  const gate = watchGate(client, policy, inside, { optedIn: namespaces.optedIn });
  const endSteering = startSteering(client, { ...gate, policy }, { registry, log, ownNamespace });
  const started = performance.now();
  const unsynced = (): string | undefined => {
    const missing = performance.now() - started < patience ? gate.unsynced() : undefined;
    return missing === undefined ? undefined : `not known yet: ${missing}`;
  };
  return {
    unready: () => namespaces.unready() ?? unsynced(),
    namespaces,
    gate,
    close: async () => {
      await endSteering();
      await Promise.all([namespaces.close(), gate.close()]);
      client.close();
    },
  };
}
