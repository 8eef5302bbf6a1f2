import type { NamespaceFacts } from '../admission/namespaces.ts';
import type { Change, Store } from '../kubernetes/reflector/store.ts';
import { profileLabel } from '../lib/names.ts';

/** The namespaces that opted in. */
export interface OptedIn {
  has(namespace: string): boolean;
  /** Calls back when namespaces opt in or out. */
  subscribe(changed: () => void): () => void;
}

/** The part of a reflector that {@link optedInBy} reads. */
interface NamespaceReflection {
  readonly store: Pick<Store<NamespaceFacts>, 'get'>;
  subscribe(subscriber: (changes: Change<NamespaceFacts>[]) => void): () => void;
}

// any value of the label counts: the API server sends requests for the namespace's pods
const isIn = (facts: NamespaceFacts | undefined): boolean =>
  facts !== undefined && Object.hasOwn(facts.labels, profileLabel);

/** Takes the namespaces that opted in from a reflector. */
export function optedInBy({ store, subscribe }: NamespaceReflection): OptedIn {
  return {
    has: (namespace) => isIn(store.get(namespace)),
    subscribe: (changed) =>
      subscribe((changes) => {
        const matters = changes.some((change) => {
          const before = change.type === 'added' ? undefined : change.previous;
          return isIn(before) !== isIn(change.type === 'deleted' ? undefined : change.object);
        });
        if (matters) changed();
      }),
  };
}
