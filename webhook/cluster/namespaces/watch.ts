import { messageOf } from '../../errors.ts';
import type { ApiClient } from '../client.ts';
import { Lookup } from '../lookup.ts';
import type { ClusterMetrics } from '../metrics.ts';
import { type Log, observe } from '../observe.ts';
import { Reflector, type ReflectorOptions } from '../reflector/reflector.ts';
import { ClusterNamespaces } from './cluster-namespaces.ts';
import { namespaceByName, namespaceSource } from './source.ts';

export interface WatchedNamespaces {
  readonly value: ClusterNamespaces;
  /** Why there is nothing to go by yet; undefined once everything was listed, whatever happens later. */
  unready(): string | undefined;
  close(): Promise<void>;
}

/** Begins to watch the namespaces of a cluster. A cluster that does not answer is waited for, not an error. */
export function watchNamespaces(
  client: ApiClient,
  { metrics, log }: { metrics: ClusterMetrics; log: Log },
  options: Omit<ReflectorOptions, 'observer'> = {},
): WatchedNamespaces {
  const { resource } = namespaceSource;
  const observer = observe(resource, metrics, log);
  const reflector = new Reflector(client, namespaceSource, { ...options, observer });
  metrics.objects(resource, () => reflector.store.size);
  const stop = new AbortController();
  const over = reflector.run(stop.signal);
  void reflector.whenSynced().then(() => {
    log.info({ resource, objects: reflector.store.size }, `the ${resource} of the cluster are known`);
  });
  return {
    value: new ClusterNamespaces(
      reflector,
      new Lookup(client, namespaceByName, (result) => metrics.lookedUp('namespaces', result)),
    ),
    unready: () => {
      if (reflector.synced) return undefined;
      const { lastError: error } = reflector;
      const why = error === undefined ? '' : `: ${messageOf(error)}`;
      return `the ${resource} of the cluster are not known yet${why}`;
    },
    close: async () => {
      stop.abort();
      await over;
    },
  };
}
