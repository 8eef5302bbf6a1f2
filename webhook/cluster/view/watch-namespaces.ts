import type { NamespaceFacts, Namespaces } from '../../core/facts/namespace.ts';
import { relist } from '../../lib/limits.ts';
import type { ApiClient } from '../client.ts';
import type { InformerOptions } from '../informer/informer.ts';
import { InformerFactory } from '../informer/informer-factory.ts';
import type { InformerDeps } from '../informer/report.ts';
import type { Lister } from '../informer/store.ts';
import { Lookup } from '../lookup.ts';
import { clusterNamespaces, namespaceByName } from './lookups.ts';
import { isOptedIn, namespaceSource, type OptedIn } from './sources.ts';

/** Takes the namespaces that opted in from an informer. */
export const optedInBy = (informer: Lister<NamespaceFacts>): OptedIn => ({
  has: (namespace) => isOptedIn(informer.store.get(namespace)),
  subscribe: (changed) => {
    const { first, next } = relist;
    let timer: NodeJS.Timeout | undefined;
    let last = Number.NEGATIVE_INFINITY;
    const call = (): void => {
      timer = undefined;
      last = performance.now();
      changed();
    };
    informer.subscribe((changes) => {
      const matters = changes.some((change) => {
        const before = change.type === 'added' ? undefined : change.previous;
        return isOptedIn(before) !== isOptedIn(change.type === 'deleted' ? undefined : change.object);
      });
      if (!matters || timer !== undefined) return;
      timer = setTimeout(call, Math.max(first, last + next - performance.now())).unref();
    });
  },
});

/** The namespaces of a cluster, kept by a watch. */
export interface NamespaceView {
  readonly value: Namespaces;
  readonly optedIn: OptedIn;
  /** Why the namespaces are not known yet; undefined once they were listed, whatever happens later. */
  unready(): string | undefined;
  close(): Promise<void>;
}

/** Watches the namespaces of a cluster. An API server that does not answer is not an error: cni-gate tries again. */
export function watchNamespaces(
  client: ApiClient,
  deps: InformerDeps,
  options: InformerOptions = {},
): NamespaceView {
  const { resource } = namespaceSource;
  const { metrics, log } = deps;
  const informers = new InformerFactory(client, deps, options);
  const informer = informers.start(namespaceSource);
  void informer.whenSynced().then(() => {
    log.info({ resource, objects: informer.store.size }, `the ${resource} of the cluster are known`);
  });
  const lookup = new Lookup(client, namespaceByName, (result) =>
    metrics.lookups.inc({ resource: 'namespaces', result }),
  );
  return {
    value: clusterNamespaces(informer, lookup),
    optedIn: optedInBy(informer),
    unready: () => {
      if (informer.synced) return undefined;
      const why = informer.fault === undefined ? '' : `: ${informer.fault}`;
      return `the ${resource} of the cluster are not known yet${why}`;
    },
    close: () => informers.close(),
  };
}
