import type { PendingPods } from '../../core/cluster-view.ts';
import type { ApiPod } from '../../core/facts/api.ts';
import { type GatePod, toGatePod } from '../../core/facts/gate-pod.ts';
import type { NamespaceFacts, Namespaces } from '../../core/facts/namespace.ts';
import { nameOf } from '../../lib/names.ts';
import { pathBelow } from '../api-path.ts';
import { type ApiObject, isTooLarge } from '../informer/object.ts';
import type { Lister } from '../informer/store.ts';
import { type Asked, defaultLimits, type Lookup } from '../lookup.ts';
import { isOptedIn, namespaceSource, podsPath } from './sources.ts';

/** Reads a namespace that the informer does not know, by its name. */
export const namespaceByName: Asked<ApiObject, NamespaceFacts> = {
  path: (name) => pathBelow(namespaceSource.path, name),
  pick: namespaceSource.pick,
  fits: (facts) => !isTooLarge(facts, namespaceSource.retention),
};

/**
 * Namespaces as an informer knows them. The API server sends requests only for namespaces that opted in. So if the
 * informer does not know a namespace, or knows it without the label, its knowledge is old, and cni-gate asks the API
 * server: see docs/decisions/injection.md.
 */
export function clusterNamespaces(
  informer: Lister<NamespaceFacts>,
  lookup: Lookup<ApiObject, NamespaceFacts>,
): Namespaces {
  return {
    facts(name) {
      const known = informer.store.get(name);
      return isOptedIn(known) ? known : lookup.ask(name);
    },
  };
}

/** The bound is shorter than the webhook's timeout, so that the answer still reaches the API server. */
export const podLimits = { ...defaultLimits, bound: 2000 };

/** Reads a pod that the informer does not know, by `namespace/name`. */
export const podByName: Asked<ApiPod, GatePod> = {
  path: (key) => {
    const [namespace = '', name = ''] = key.split('/');
    return pathBelow(podsPath(namespace), name);
  },
  pick: toGatePod,
};

/**
 * Pods that wait for a node, as an informer knows them. It does not list pods for which no profile applies, so a pod that
 * it does not know is either one of those or very new: cni-gate asks the API server.
 */
export function clusterPods(informer: Lister<GatePod>, lookup: Lookup<ApiPod, GatePod>): PendingPods {
  return {
    pod(namespace, name, uid) {
      const key = nameOf({ namespace, name });
      const isIt = (pod: GatePod | undefined): pod is GatePod =>
        pod !== undefined && (uid === '' || pod.uid === uid);
      const known = informer.store.get(key);
      return isIt(known) ? known : lookup.ask(key).then((found) => (isIt(found) ? found : undefined));
    },
  };
}
