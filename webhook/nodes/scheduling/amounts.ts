import { quantity } from '../../lib/quantity.ts';

/**
 * Amounts of resources as the scheduler counts them, whole numbers rounded up: thousandths of `cpu`, bytes of memory,
 * pieces of anything else. Source: Kubernetes, `Resource.Add` in `pkg/scheduler/framework`.
 */
export type Amounts = Readonly<Record<string, number>>;

/** The amounts in a map of quantities. An invalid quantity counts as 0. */
export function amountsOf(quantities: Record<string, string | number> | null | undefined): Amounts {
  return Object.fromEntries(
    Object.entries(quantities ?? {}).map(([name, text]) => {
      const value = quantity(text) * (name === 'cpu' ? 1000 : 1);
      // 0.069 * 1000 is a little more than 69: rounding up must not make 70 of it
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

/** What is left of one amount without the other; it can be negative. */
export const subtract = (one: Amounts, other: Amounts): Amounts =>
  addAll([one, Object.fromEntries(Object.entries(other).map(([name, amount]) => [name, -amount]))]);

/** Whether the requested amounts are free. Resources of which 0 is requested do not count. */
export function fits(requested: Amounts, free: Amounts): boolean {
  return Object.entries(requested).every(([name, amount]) => amount <= 0 || amount <= (free[name] ?? 0));
}
