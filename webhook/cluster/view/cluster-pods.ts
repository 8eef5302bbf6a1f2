import type { PendingPods } from '../../admission/gate/cluster-view.ts';
import { type ApiGatePod, type GatePod, toGatePod } from '../../admission/gate/gate-pod.ts';
import { pathBelow } from '../api-path.ts';
import type { Change, Store } from '../informer/store.ts';
import { type Asked, defaultLimits, type Lookup } from '../lookup.ts';
import { podsPath } from './sources.ts';

/** The part of an informer that {@link ClusterPods} reads. */
export interface PodInformer {
  readonly store: Pick<Store<GatePod>, 'get'>;
  subscribe(subscriber: (changes: Change<GatePod>[]) => void): () => void;
}

/** The bound is shorter than the webhook's timeout, so that the answer still reaches the API server. One attempt only. */
export const podLimits = { ...defaultLimits, bound: 2000 };

/** Reads a pod that the informer does not know, by `namespace/name`. */
export const podByName: Asked<ApiGatePod, GatePod> = {
  path: (key) => {
    const [namespace = '', name = ''] = key.split('/');
    return pathBelow(podsPath(namespace), name);
  },
  pick: toGatePod,
};

/**
 * Pods that wait for a node, as an informer knows them. It does not list pods to which nothing is promised, so a pod that
 * it does not know is either one of those or very new: cni-gate asks the API server.
 */
export class ClusterPods implements PendingPods {
  readonly #informer: PodInformer;
  readonly #lookup: Lookup<ApiGatePod, GatePod>;

  constructor(informer: PodInformer, lookup: Lookup<ApiGatePod, GatePod>) {
    this.#informer = informer;
    this.#lookup = lookup;
    informer.subscribe((changes) => {
      for (const { key } of changes) lookup.forget(key);
    });
  }

  pod(namespace: string, name: string, uid: string): GatePod | Promise<GatePod | undefined> {
    const key = `${namespace}/${name}`;
    const isIt = (pod: GatePod | undefined): pod is GatePod =>
      pod !== undefined && (uid === '' || pod.uid === uid);
    const known = this.#informer.store.get(key);
    if (isIt(known)) return known;
    return this.#lookup.ask(key).then((found) => (isIt(found) ? found : undefined));
  }
}
