import { quantity } from '../../lib/quantity.ts';
import type { PodSpec, Quantities } from '../facts/api.ts';

/**
 * Amounts of resources as the scheduler counts them, rounded up to whole numbers: thousandths of `cpu`, bytes of
 * memory, units of anything else. Source: Kubernetes, `Resource.Add` in `pkg/scheduler/framework`.
 */
export type Amounts = Readonly<Record<string, number>>;

/** The amounts in a map of quantities. An invalid quantity counts as 0. */
export function amountsOf(quantities: Quantities | undefined): Amounts {
  return Object.fromEntries(
    Object.entries(quantities ?? {}).map(([name, text]) => {
      const value = quantity(text) * (name === 'cpu' ? 1000 : 1);
      // 0.069 * 1000 is slightly more than 69, and must not be rounded up to 70
      return [name, Number.isNaN(value) ? 0 : Math.max(0, Math.ceil(value - 1e-6))];
    }),
  );
}

/** The sum of amounts, resource by resource. */
export function addAll(all: Iterable<Amounts>): Amounts {
  const total = new Map<string, number>();
  for (const amounts of all) {
    for (const [name, amount] of Object.entries(amounts)) total.set(name, (total.get(name) ?? 0) + amount);
  }
  return Object.fromEntries(total);
}

/** Subtracts the taken amounts; a result can be negative. */
export const subtract = (amounts: Amounts, taken: Amounts): Amounts =>
  addAll([amounts, Object.fromEntries(Object.entries(taken).map(([name, amount]) => [name, -amount]))]);

/** Whether the requested amounts are free. A request of 0 always fits, even if nothing is free. */
export function fits(requested: Amounts, free: Amounts): boolean {
  return Object.entries(requested).every(([name, amount]) => amount <= 0 || amount <= (free[name] ?? 0));
}

export type RequestingSpec = Pick<PodSpec, 'containers' | 'initContainers' | 'overhead' | 'resources'>;

const requestsOf = ({ resources }: NonNullable<PodSpec['containers']>[number]): [string, number][] =>
  Object.entries(amountsOf(resources?.requests));

/**
 * What a pod takes from its node, including 1 of the resource `pods`. Containers and sidecars run together; other init
 * containers run with the sidecars before them. Source: Kubernetes, `PodRequests` in `component-helpers/resource`.
 */
export function podRequests(spec: RequestingSpec): Amounts {
  // these maps are changed in place, because a pod may have thousands of containers with different resources
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
