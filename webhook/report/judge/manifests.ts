import { existsSync, readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { parseAllDocuments } from 'yaml';
import type { MatchCondition } from '../../core/policies/conditions.ts';
import type { Policy } from '../../core/profiles/policy.ts';

/* Compares objects of a cluster with the manifests of this release. */

/** The folder with this release's manifests, in the published bundle or else in the sources. */
const folder = ['./manifests/', '../../../manifests/base/']
  .map((path) => new URL(path, import.meta.url))
  .find((url) => existsSync(url));

/** The first object in a file of the manifests. @param file the file's name without `.yaml` */
// biome-ignore lint/suspicious/noExplicitAny: objects of many kinds, read by their paths
export const objectIn = (file: string): any =>
  parseAllDocuments(readFileSync(new URL(`${file}.yaml`, folder), 'utf8'))[0]?.toJS();

/** The conditions that apply: with `proof.allowOptOut: false`, the component `no-opt-out` has removed one. */
export const conditionsFor = <C extends Pick<MatchCondition, 'name'>>(
  conditions: readonly C[] | undefined,
  { proof }: Pick<Policy, 'proof'>,
): C[] => (conditions ?? []).filter(({ name }) => proof.allowOptOut || name !== 'not-opted-out');

/** The names of the fields that differ. */
export const differences = (expected: Record<string, unknown>, found: Record<string, unknown>): string[] =>
  [...new Set([...Object.keys(expected), ...Object.keys(found)])].filter(
    (field) => !isDeepStrictEqual(plain(expected[field]), plain(found[field])),
  );

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
