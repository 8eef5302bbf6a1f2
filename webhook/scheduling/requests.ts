import { type Amounts, amountsOf, most, sum, sumOf } from './amounts.ts';

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

const requestsOf = ({ resources }: Asking): Amounts => amountsOf(resources?.requests);

/**
 * What a pod takes of its node, the one of `pods` that it is included. Containers and sidecars run together; each
 * other init container runs alone beside the sidecars before it. Requests that a container leaves out where it has
 * limits were filled in by the API server. Source: Kubernetes, `PodRequests` in `component-helpers/resource`; what a
 * resize under way adds is not counted.
 */
export function podRequests(spec: RequestingSpec): Amounts {
  const containers = spec.containers ?? [];
  const initContainers = spec.initContainers ?? [];
  const running = sumOf([...containers, ...initContainers.filter(isSidecar)].map(requestsOf));
  const ofContainers = most(running, mostWhileStarting(initContainers));
  const asked = { ...ofContainers, ...amountsOf(spec.resources?.requests) };
  return { ...sum(asked, amountsOf(spec.overhead)), pods: 1 };
}

const isSidecar = ({ restartPolicy }: Asking): boolean => restartPolicy === 'Always';

/**
 * The most of each resource that an init container asks for together with the sidecars before it. What it does not ask
 * for itself is left out: the sidecars alone take no more than they do beside the containers. So each request is
 * looked at once, however many containers and resources there are.
 */
function mostWhileStarting(initContainers: readonly Asking[]): Amounts {
  const sidecars = new Map<string, number>();
  const starting = new Map<string, number>();
  for (const container of initContainers) {
    for (const [name, amount] of Object.entries(requestsOf(container))) {
      const together = (sidecars.get(name) ?? 0) + amount;
      if (isSidecar(container)) sidecars.set(name, together);
      else starting.set(name, Math.max(starting.get(name) ?? 0, together));
    }
  }
  return Object.fromEntries(starting);
}
