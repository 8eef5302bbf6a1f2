import { type Amounts, add, amountsOf } from './amounts.ts';

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

const requestsOf = ({ resources }: Asking): [string, number][] =>
  Object.entries(amountsOf(resources?.requests));

/**
 * What a pod takes of its node, the one of `pods` that it is included. Containers and sidecars run together; each
 * other init container runs alone beside the sidecars before it. Requests that a container leaves out where it has
 * limits were filled in by the API server. Source: Kubernetes, `PodRequests` in `component-helpers/resource`; what a
 * resize under way adds is not counted.
 */
export function podRequests(spec: RequestingSpec): Amounts {
  // counted in place: a pod may have thousands of containers, each with resources of its own
  const running = new Map<string, number>();
  const sidecars = new Map<string, number>();
  const starting = new Map<string, number>();
  const count = (to: Map<string, number>, name: string, amount: number): number => {
    const total = (to.get(name) ?? 0) + amount;
    to.set(name, total);
    return total;
  };
  const raise = (to: Map<string, number>, name: string, amount: number): void => {
    to.set(name, Math.max(to.get(name) ?? 0, amount));
  };
  for (const container of spec.containers ?? []) {
    for (const [name, amount] of requestsOf(container)) count(running, name, amount);
  }
  for (const container of spec.initContainers ?? []) {
    for (const [name, amount] of requestsOf(container)) {
      if (container.restartPolicy === 'Always') {
        count(running, name, amount);
        raise(starting, name, count(sidecars, name, amount));
      } else {
        raise(starting, name, amount + (sidecars.get(name) ?? 0));
      }
    }
  }
  for (const [name, amount] of running) raise(starting, name, amount);
  const asked = { ...Object.fromEntries(starting), ...amountsOf(spec.resources?.requests) };
  return { ...add(asked, amountsOf(spec.overhead)), pods: 1 };
}
