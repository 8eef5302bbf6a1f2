import { type Amounts, amountsOf, most, sum } from './amounts.ts';

/** What of a container says how much of a node it takes. */
export interface Asking {
  resources?: { requests?: Record<string, string | number> | null } | null;
  restartPolicy?: string | null;
}

/** What of a pod says how much of a node it takes. */
export interface RequestingSpec {
  containers?: Asking[] | null;
  initContainers?: Asking[] | null;
  overhead?: Record<string, string | number> | null;
  /** Of the pod as a whole: they count in place of what its containers ask for. */
  resources?: { requests?: Record<string, string | number> | null } | null;
}

const none: Amounts = {};
const requestsOf = ({ resources }: Asking): Amounts => amountsOf(resources?.requests);

/**
 * What a pod takes of its node, the one of `pods` that it is included. Containers and sidecars run together; each
 * other init container runs alone beside the sidecars before it. Requests that a container leaves out where it has
 * limits were filled in by the API server. Source: Kubernetes, `PodRequests` in `component-helpers/resource`; what a
 * resize under way adds is not counted.
 */
export function podRequests(spec: RequestingSpec): Amounts {
  let running = (spec.containers ?? []).map(requestsOf).reduce(sum, none);
  let sidecars = none;
  let starting = none;
  for (const container of spec.initContainers ?? []) {
    const own = requestsOf(container);
    if (container.restartPolicy === 'Always') {
      running = sum(running, own);
      sidecars = sum(sidecars, own);
      starting = most(starting, sidecars);
    } else {
      starting = most(starting, sum(own, sidecars));
    }
  }
  const ofContainers = most(running, starting);
  const asked = { ...ofContainers, ...amountsOf(spec.resources?.requests) };
  return { ...sum(asked, amountsOf(spec.overhead)), pods: 1 };
}
