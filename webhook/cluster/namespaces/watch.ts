import { messageOf } from '../../errors.ts';
import type { ApiClient } from '../client.ts';
import { Lookup } from '../lookup.ts';
import { type Inside, Reflecting } from '../reflecting.ts';
import type { ReflectorOptions } from '../reflector/reflector.ts';
import { ClusterNamespaces } from './cluster-namespaces.ts';
import { type OptedIn, optedInBy } from './opted-in.ts';
import { namespaceByName, namespaceSource } from './source.ts';

export interface WatchedNamespaces {
  readonly value: ClusterNamespaces;
  readonly optedIn: OptedIn;
  /** Why there is nothing to go by yet; undefined once everything was listed, whatever happens later. */
  unready(): string | undefined;
  close(): Promise<void>;
}

/** Begins to watch the namespaces of a cluster. A cluster that does not answer is waited for, not an error. */
export function watchNamespaces(
  client: ApiClient,
  inside: Inside,
  options: Omit<ReflectorOptions, 'observer'> = {},
): WatchedNamespaces {
  const { resource } = namespaceSource;
  const { metrics, log } = inside;
  const reflecting = new Reflecting(client, inside, options);
  const reflector = reflecting.start(namespaceSource);
  void reflector.whenSynced().then(() => {
    log.info({ resource, objects: reflector.store.size }, `the ${resource} of the cluster are known`);
  });
  return {
    value: new ClusterNamespaces(
      reflector,
      new Lookup(client, namespaceByName, (result) => metrics.lookedUp('namespaces', result)),
    ),
    optedIn: optedInBy({ store: reflector.store, subscribe: (changed) => reflector.subscribe(changed) }),
    unready: () => {
      if (reflector.synced) return undefined;
      const { lastError: error } = reflector;
      const why = error === undefined ? '' : `: ${messageOf(error)}`;
      return `the ${resource} of the cluster are not known yet${why}`;
    },
    close: () => reflecting.close(),
  };
}
