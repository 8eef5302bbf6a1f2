import { type Amounts, addAll, amountsOf } from './amounts.ts';

/** The parts of a container that say what it takes of a node. */
export interface Asking {
  resources?: { requests?: Record<string, string | number> | null } | null;
  restartPolicy?: string | null;
}

/** The parts of a pod that say what it takes of a node. */
export interface RequestingSpec {
  containers?: Asking[] | null;
  initContainers?: Asking[] | null;
  overhead?: Record<string, string | number> | null;
  /** Of the pod as a whole. They replace the sum of its containers. */
  resources?: { requests?: Record<string, string | number> | null } | null;
}

const requestsOf = ({ resources }: Asking): [string, number][] =>
  Object.entries(amountsOf(resources?.requests));

/**
 * What a pod takes of its node, including one of `pods`. Containers and sidecars run together; each other init container
 * runs with the sidecars before it. The API server has filled in requests from limits. Source: Kubernetes, `PodRequests`
 * in `component-helpers/resource`, without what a resize in progress adds.
 */
export function podRequests(spec: RequestingSpec): Amounts {
  // without copies: a pod may have thousands of containers, each with other resources
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
  return { ...addAll([asked, amountsOf(spec.overhead)]), pods: 1 };
}
