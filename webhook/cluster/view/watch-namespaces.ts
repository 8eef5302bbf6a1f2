import type { NamespaceFacts } from '../../core/facts/namespace.ts';
import { relist } from '../../lib/limits.ts';
import { pathBelow } from '../api-path.ts';
import type { ApiClient } from '../client.ts';
import type { Informer, Timing } from '../informer/informer.ts';
import { InformerFactory } from '../informer/informer-factory.ts';
import type { InformerDeps } from '../informer/report.ts';
import { lookup } from '../lookup.ts';
import { isOptedIn, namespaceSource, type OptedIn } from './sources.ts';

export const optedInBy = (
  informer: Pick<Informer<never, NamespaceFacts>, 'store' | 'subscribe'>,
): OptedIn => ({
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

/** Watches the namespaces that opted in. Does not throw if the API server does not answer. */
export function watchNamespaces(client: ApiClient, deps: InformerDeps, timing?: Timing) {
  const { resource } = namespaceSource;
  const { metrics, log } = deps;
  const informers = new InformerFactory(client, deps, timing);
  const informer = informers.start(namespaceSource);
  void informer.whenSynced().then(() => {
    log.info({ resource, objects: informer.store.size }, `the ${resource} of the cluster are known`);
  });
  const { pick } = namespaceSource;
  const path = (name: string): string => pathBelow(namespaceSource.path, name);
  const ask = lookup({ client, path, pick }, (result) => metrics.lookups.inc({ resource, result }));
  // The API server calls the webhook only for namespaces that opted in. If the informer does not know that a namespace
  // has opted in, its data is old, and cni-gate requests the namespace (docs/decisions/injection.md).
  const facts = (name: string) => {
    const known = informer.store.get(name);
    return isOptedIn(known) ? known : ask(name);
  };
  return {
    value: { facts },
    optedIn: optedInBy(informer),
    /** Why the namespaces are not known yet; undefined once they were listed. */
    unready: (): string | undefined => {
      if (informer.synced) return undefined;
      const why = informer.fault === undefined ? '' : `: ${informer.fault}`;
      return `the ${resource} of the cluster are not known yet${why}`;
    },
    close: () => informers.close(),
  };
}
