import type { NamespaceFacts, Namespaces } from '../../admission/namespaces.ts';
import { profileLabel } from '../../names.ts';
import type { Lookup } from '../lookup.ts';
import type { Change, Store } from '../reflector/store.ts';
import type { NamespaceObject } from './source.ts';

/** The part of a reflector that is read here. */
export interface NamespaceReflection {
  readonly store: Pick<Store<NamespaceFacts>, 'get'>;
  subscribe(subscriber: (changes: Change<NamespaceFacts>[]) => void): () => void;
}

/**
 * Namespaces as a reflector knows them, at once and without a question. The API server calls for namespaces that
 * opted in. So one that is not known, or is known without the label, is one of which we have not heard in time, and
 * the API server is asked: see docs/decisions/namespaces-not-known.md.
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
