import type { NamespaceFacts } from '../admission/namespaces.ts';
import type { Change, Store } from '../kubernetes/reflector/store.ts';
import { profileLabel } from '../lib/names.ts';

/** The namespaces that opted in, as far as they are known. */
export interface OptedIn {
  has(namespace: string): boolean;
  /** Calls back when namespaces opted in or out. */
  subscribe(changed: () => void): () => void;
}

/** The part of a reflector that is read here. */
interface NamespaceReflection {
  readonly store: Pick<Store<NamespaceFacts>, 'get'>;
  subscribe(subscriber: (changes: Change<NamespaceFacts>[]) => void): () => void;
}

// whoever carries the label at all: the API server calls for its pods
const isIn = (facts: NamespaceFacts | undefined): boolean =>
  facts !== undefined && Object.hasOwn(facts.labels, profileLabel);

/** The namespaces of a reflector that opted in. */
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
