import type { Policy } from '../config/policy.ts';
import type { ApiClient } from './client.ts';
import { type WatchedGate, watchGate } from './gate/watch.ts';
import { ClusterMetrics } from './metrics.ts';
import { type WatchedNamespaces, watchNamespaces } from './namespaces/watch.ts';
import { type SteerInside, startSteering } from './steer/start.ts';

/** Everything that the server goes by, kept by watches of one cluster. */
export interface WatchedCluster {
  namespaces: WatchedNamespaces;
  gate: WatchedGate;
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
): WatchedCluster {
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
