import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { isDeepStrictEqual as same } from 'node:util';
import type { Operation } from 'fast-json-patch';
import { parse } from 'yaml';
import { version } from '../../webhook/lib/version.ts';
import type { Answer } from '../support/answers.ts';
import type { Expectation } from './case.ts';

type Fields = Record<string, unknown>;

const ordinary: { container: Fields; usual: Fields; variables: Fields[]; volume: Fields } = parse(
  readFileSync(new URL('./injected.yaml', import.meta.url), 'utf8'),
);

/** Converts an answer to the form that cases use. */
export function expectationOf({ decision, response, patch }: Answer): Expectation {
  const { outcome, reason } = decision;
  const { profiles, ...audit } = response.auditAnnotations ?? {};
  assert.deepEqual(audit, { outcome, reason }, 'the audit annotations');
  const { patch: operations, ...rest } = withPlaceholders({
    outcome,
    ...(reason !== 'profile-applies' && { reason }),
    ...(profiles !== undefined && { profiles }),
    ...(response.warnings !== undefined && { warnings: response.warnings }),
    ...(response.status !== undefined && { message: response.status.message }),
    patch,
  });
  return { ...rest, ...(operations.length > 0 && { patch: operations.map(shortOperation) }) };
}

/** Abbreviates an operation to `OP PATH` and its value; `remove PATH` and `move FROM PATH` have no value. */
function shortOperation(operation: Operation): unknown {
  const { op, path, ...rest } = operation;
  if ('value' in rest) return { [`${op} ${path}`]: abbreviated(rest.value) };
  return 'from' in rest ? `${op} ${rest.from} ${path}` : `${op} ${path}`;
}

/**
 * Writes placeholders for values that differ between releases or with a new profile. The version is replaced only
 * where an injection writes it, because a user's text may contain the same digits.
 */
function withPlaceholders<T>(value: T): T {
  const text = JSON.stringify(value)
    .replaceAll(`cni-gate-validator:${version}"`, 'cni-gate-validator:<version>"')
    .replaceAll(`\\"version\\":\\"${version}\\"`, '\\"version\\":\\"<version>\\"')
    .replaceAll(/(the configuration has: )[^"()]*?(?= \(|")/g, '$1<profiles>');
  return JSON.parse(text) as T;
}

/**
 * Abbreviates the injected values in a value of a patch. The init container is reduced to its checks and to the fields
 * that differ from `container` in `injected.yaml`: see {@link difference}. A variable with the same value as in
 * `injected.yaml` is reduced to its name. Different containers never have the same short form, and no other value of a
 * pod has `checks`. The volume of `injected.yaml` becomes `injected: volume`.
 */
function abbreviated(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(abbreviated);
  if (!isFields(value)) return value;
  if (same(value, ordinary.volume)) return { injected: 'volume' };
  const { env, ...rest } = value;
  const [checks, ...variables] = Array.isArray(env) ? env : [];
  if (value.name === ordinary.container.name && isPlainVariable(checks)) {
    const container = { ...rest, env: variables.map(nameOrVariable) };
    return { checks: checks.value, ...difference(container, ordinary.container) };
  }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, abbreviated(inner)]));
}

const nameOrVariable = (variable: Fields): unknown =>
  ordinary.variables.some((usual) => same(usual, variable)) ? variable.name : variable;

/** The fields of `actual` that differ from `base`. `usual`: as in `usual` there; null: no such field. */
function difference(actual: Fields, base: Fields): Fields {
  const result: Fields = {};
  for (const key of new Set([...Object.keys(base), ...Object.keys(actual)])) {
    const [seen, expected] = [actual[key], base[key]];
    if (same(seen, expected)) continue;
    if (isFields(seen) && isFields(expected)) result[key] = difference(seen, expected);
    else result[key] = seen !== undefined && same(seen, ordinary.usual[key]) ? 'usual' : (seen ?? null);
  }
  return result;
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isPlainVariable = (variable: unknown): variable is { value: string } =>
  isFields(variable) && same(Object.keys(variable), ['name', 'value']) && variable.name === 'CNI_GATE_CHECKS';
