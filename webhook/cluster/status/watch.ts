import { Registry } from 'prom-client';
import type { PodFacts, StatusFacts } from '../../status/facts.ts';
import type { ApiClient } from '../client.ts';
import { watchGate } from '../gate/watch.ts';
import { ClusterMetrics } from '../metrics.ts';
import type { Log } from '../observe.ts';
import { Reflecting } from '../reflecting.ts';
import { Reflections } from '../reflections.ts';
import { optInSource, podSources, type StatusPodObject } from './sources.ts';
import type { Wanted } from './wanted.ts';

/** What a status is made of, kept by watches. */
export interface WatchedStatus {
  /** What is known now; undefined until everything was listed once. */
  facts(): StatusFacts | undefined;
  close(): Promise<void>;
}

/** Begins to watch everything that a status is made of. Outages are waited for, and told to the log. */
export function watchStatus(client: ApiClient, wanted: Wanted, log: Log): WatchedStatus {
  const { policy } = wanted;
  // nobody asks for them: a command has no port
  const inside = { metrics: new ClusterMetrics(new Registry()), log };
  const gate = watchGate(client, () => policy, inside);
  const reflecting = new Reflecting(client, inside);
  const namespaces = reflecting.start(optInSource(wanted.namespace));
  const pods = new Reflections<StatusPodObject, PodFacts>((source) => reflecting.startOne(source));
  namespaces.subscribe(() => pods.watch(podSources(namespaces.store.list(), wanted)));
  const synced = (): boolean =>
    namespaces.synced && gate.unsynced() === undefined && pods.unsynced().length === 0;
  return {
    facts: () =>
      synced()
        ? {
            policy,
            readiness: gate.readiness,
            namespaces: namespaces.store.list(),
            pods: pods.list(),
          }
        : undefined,
    close: async () => {
      await Promise.all([gate.close(), reflecting.close()]);
    },
  };
}
