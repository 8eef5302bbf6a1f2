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

/** The part of a reflector that is read here. */
export interface NamespaceReflection {
  readonly store: Pick<Store<NamespaceFacts>, 'get'>;
  subscribe(subscriber: (changes: Change<NamespaceFacts>[]) => void): () => void;
}

/**
 * Namespaces as a reflector knows them, at once and without a question. The API server calls for namespaces that
 * opted in. So one that is not known, or is known without the label, is one of which we have not heard in time, and
 * the API server is asked: see docs/decisions/unknown-namespaces.md.
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

  facts(name: string): NamespaceFacts | Promise<NamespaceFacts | undefined> {
    const known = this.#reflection.store.get(name);
    return known !== undefined && Object.hasOwn(known.labels, profileLabel) ? known : this.#lookup.ask(name);
  }
}

export type NamespaceObject = ApiObject;

const namespacesPath = '/api/v1/namespaces';

const pickFacts = ({ metadata }: NamespaceObject): NamespaceFacts => ({
  labels: metadata.labels ?? {},
  ...annotationsOf(metadata.annotations),
});

const fits = (facts: NamespaceFacts): boolean => weightOfNamespace(facts) <= namespaces.bytes;

/** A namespace by its name, where the reflector has not heard of it. */
export const namespaceByName: Asked<NamespaceObject, NamespaceFacts> = {
  path: (name) => pathBelow(namespacesPath, name),
  pick: pickFacts,
  fits,
};

/**
 * The namespaces of a cluster that carry our label, for a reflector. One that loses it is reported as deleted. Others
 * are never read: there may be any number of them, with any number of labels.
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

export interface NamespaceView {
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
