import { annotationsOf, type NamespaceFacts, type Namespaces } from '../admission/namespaces.ts';
import { pathBelow } from '../kubernetes/api-path.ts';
import type { ApiClient } from '../kubernetes/client.ts';
import { type Asked, Lookup } from '../kubernetes/lookup.ts';
import { largestFirst } from '../kubernetes/reflector/kept.ts';
import type { ApiObject } from '../kubernetes/reflector/object.ts';
import type { ReflectorOptions } from '../kubernetes/reflector/reflector.ts';
import { type Inside, Reflectors } from '../kubernetes/reflector/reflectors.ts';
import type { Source } from '../kubernetes/reflector/source.ts';
import type { Change, Store } from '../kubernetes/reflector/store.ts';
import { messageOf } from '../lib/errors.ts';
import { namespaces, objectBytes } from '../lib/limits.ts';
import { profileLabel } from '../lib/names.ts';
import { type OptedIn, optedInBy } from './opted-in.ts';
import { weightOfNamespace } from './weights.ts';

/** The part of a reflector that {@link ClusterNamespaces} reads. */
export interface NamespaceReflection {
  readonly store: Pick<Store<NamespaceFacts>, 'get'>;
  subscribe(subscriber: (changes: Change<NamespaceFacts>[]) => void): () => void;
}

/**
 * Namespaces as a reflector knows them. The API server sends requests only for namespaces that opted in. So if the
 * reflector does not know a namespace, or knows it without the label, its knowledge is old, and cni-gate asks the API
 * server: see docs/decisions/unknown-namespaces.md.
 */
export class ClusterNamespaces implements Namespaces {
  readonly #reflection: NamespaceReflection;
  readonly #lookup: Lookup<NamespaceObject, NamespaceFacts>;

  constructor(reflection: NamespaceReflection, lookup: Lookup<NamespaceObject, NamespaceFacts>) {
    this.#reflection = reflection;
    this.#lookup = lookup;
    reflection.subscribe((changes) => {
      for (const { key } of changes) lookup.forget(key);
    });
  }

  facts(name: string, caller?: string): NamespaceFacts | Promise<NamespaceFacts | undefined> {
    const known = this.#reflection.store.get(name);
    return known !== undefined && Object.hasOwn(known.labels, profileLabel)
      ? known
      : this.#lookup.ask(name, caller);
  }
}

/** A namespace as the API gives it: its metadata is all that is read. */
export type NamespaceObject = ApiObject;

const namespacesPath = '/api/v1/namespaces';

const pickFacts = ({ metadata }: NamespaceObject): NamespaceFacts => ({
  labels: metadata.labels ?? {},
  ...annotationsOf(metadata.annotations),
});

const fits = (facts: NamespaceFacts): boolean => weightOfNamespace(facts) <= namespaces.bytes;

/** Reads a namespace that the reflector does not know, by its name. */
export const namespaceByName: Asked<NamespaceObject, NamespaceFacts> = {
  path: (name) => pathBelow(namespacesPath, name),
  pick: pickFacts,
  fits,
};

/**
 * The namespaces that carry the profile label. A watch reports one that loses the label as deleted. cni-gate never lists
 * others: there may be any number of them, with any number of labels.
 */
export const namespaceSource: Source<NamespaceObject, NamespaceFacts> = {
  resource: 'namespaces',
  path: namespacesPath,
  query: { labelSelector: profileLabel },
  objectBytes: objectBytes.namespace,
  pick: pickFacts,
  fits,
  keeping: largestFirst(namespaces.max, weightOfNamespace),
};

/** The namespaces of a cluster, kept by a watch. */
export interface NamespaceView {
  readonly value: ClusterNamespaces;
  readonly optedIn: OptedIn;
  /** Why the namespaces are not known yet; undefined once they were listed, whatever happens later. */
  unready(): string | undefined;
  close(): Promise<void>;
}

/** Watches the namespaces of a cluster. An API server that does not answer is not an error: cni-gate tries again. */
export function watchNamespaces(
  client: ApiClient,
  inside: Inside,
  options: Omit<ReflectorOptions, 'observer'> = {},
): NamespaceView {
  const { resource } = namespaceSource;
  const { metrics, log } = inside;
  const reflectors = new Reflectors(client, inside, options);
  const reflector = reflectors.start(namespaceSource);
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
    close: () => reflectors.close(),
  };
}
