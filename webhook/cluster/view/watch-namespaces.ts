import { annotationsOf, type NamespaceFacts, type Namespaces } from '../../admission/namespaces.ts';
import { messageOf } from '../../lib/errors.ts';
import { namespaces, objectBytes } from '../../lib/limits.ts';
import { profileLabel } from '../../lib/names.ts';
import { pathBelow } from '../api-path.ts';
import type { ApiClient } from '../client.ts';
import type { InformerOptions } from '../informer/informer.ts';
import { type InformerDeps, InformerFactory } from '../informer/informer-factory.ts';
import type { ApiObject, Source } from '../informer/object.ts';
import type { Lister } from '../informer/store.ts';
import { type Asked, Lookup } from '../lookup.ts';
import { weightOfNamespace } from './weights.ts';

/**
 * Namespaces as an informer knows them. The API server sends requests only for namespaces that opted in. So if the
 * informer does not know a namespace, or knows it without the label, its knowledge is old, and cni-gate asks the API
 * server: see docs/decisions/injection.md.
 */
export function clusterNamespaces(
  informer: Lister<NamespaceFacts>,
  lookup: Lookup<ApiObject, NamespaceFacts>,
): Namespaces {
  lookup.follow(informer);
  return {
    facts(name) {
      const known = informer.store.get(name);
      return isIn(known) ? known : lookup.ask(name);
    },
  };
}

/** The namespaces that opted in. */
export interface OptedIn {
  has(namespace: string): boolean;
  /** Calls back when namespaces opt in or out. */
  subscribe(changed: () => void): () => void;
}

// any value of the label counts: the API server sends requests for the namespace's pods
const isIn = (facts: NamespaceFacts | undefined): facts is NamespaceFacts =>
  facts !== undefined && Object.hasOwn(facts.labels, profileLabel);

/** Takes the namespaces that opted in from an informer. */
export const optedInBy = (informer: Lister<NamespaceFacts>): OptedIn => ({
  has: (namespace) => isIn(informer.store.get(namespace)),
  subscribe: (changed) =>
    informer.subscribe((changes) => {
      const matters = changes.some((change) => {
        const before = change.type === 'added' ? undefined : change.previous;
        return isIn(before) !== isIn(change.type === 'deleted' ? undefined : change.object);
      });
      if (matters) changed();
    }),
});

const namespacesPath = '/api/v1/namespaces';

const pickFacts = ({ metadata }: ApiObject): NamespaceFacts => ({
  labels: metadata.labels ?? {},
  ...annotationsOf(metadata.annotations),
});

const fits = (facts: NamespaceFacts): boolean => weightOfNamespace(facts) <= namespaces.bytes;

/** Reads a namespace that the informer does not know, by its name. */
export const namespaceByName: Asked<ApiObject, NamespaceFacts> = {
  path: (name) => pathBelow(namespacesPath, name),
  pick: pickFacts,
  fits,
};

/**
 * The namespaces that carry the profile label. A watch reports one that loses the label as deleted. cni-gate never lists
 * others: there may be any number of them, with any number of labels.
 */
export const namespaceSource: Source<ApiObject, NamespaceFacts> = {
  resource: 'namespaces',
  path: namespacesPath,
  query: { labelSelector: profileLabel },
  objectBytes: objectBytes.namespace,
  pick: pickFacts,
  fits,
  retention: { max: namespaces.max, weigh: weightOfNamespace },
};

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
  options: Omit<InformerOptions, 'observer'> = {},
): NamespaceView {
  const { resource } = namespaceSource;
  const { metrics, log } = deps;
  const informers = new InformerFactory(client, deps, options);
  const informer = informers.start(namespaceSource);
  void informer.whenSynced().then(() => {
    log.info({ resource, objects: informer.store.size }, `the ${resource} of the cluster are known`);
  });
  return {
    value: clusterNamespaces(
      informer,
      new Lookup(client, namespaceByName, (result) => metrics.lookedUp('namespaces', result)),
    ),
    optedIn: optedInBy(informer),
    unready: () => {
      if (informer.synced) return undefined;
      const { lastError: error } = informer;
      const why = error === undefined ? '' : `: ${messageOf(error)}`;
      return `the ${resource} of the cluster are not known yet${why}`;
    },
    close: () => informers.close(),
  };
}
