import { isDeepStrictEqual } from 'node:util';
import type { Webhook } from '../observe/installation.ts';

/** The fields of a webhook or policy that are compared. */
type Parts = Record<string, unknown> & { matchConditions?: Webhook['matchConditions'] | undefined };

/** The fields that differ. The found object may lack match conditions, because each one only exempts objects. */
export function differences(expected: Parts, found: Parts): string[] {
  const kept = new Set(found.matchConditions?.map(({ name }) => name));
  const matchConditions = expected.matchConditions?.filter(({ name }) => kept.has(name));
  const wanted: Parts = { ...expected, matchConditions };
  return Object.keys(found).filter((field) => !isDeepStrictEqual(plain(wanted[field]), plain(found[field])));
}

/** The defaults that the API server fills in. */
const defaults: Readonly<Record<string, unknown>> = {
  scope: '*',
  port: 443,
  matchPolicy: 'Equivalent',
  reinvocationPolicy: 'Never',
};

/** The value without API defaults and empty parts, for comparisons; undefined if nothing is left. */
export function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? undefined : value.map(plain);
  if (typeof value !== 'object' || value === null) return value ?? undefined;
  const fields = Object.entries(value)
    .map(([key, part]) => [key, plain(part)] as const)
    .filter(([key, part]) => part !== undefined && part !== defaults[key]);
  return fields.length === 0 ? undefined : Object.fromEntries(fields);
}
