import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';

type Fields = Record<string, unknown>;

const ordinary: Fields = parse(readFileSync(new URL('./injected.yaml', import.meta.url), 'utf8'));

/**
 * A value of a patch with each injected container in its short form: `injected` has the container's checks, and the
 * fields that differ from those in `injected.yaml`. A field that the container lacks is null. Two containers have the
 * same short form only if they are equal.
 */
export function abbreviated(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(abbreviated);
  if (!isFields(value)) return value;
  const { env, ...rest } = value;
  const [checks, ...variables] = Array.isArray(env) ? env : [];
  if (value.name === ordinary.name && isPlainVariable(checks)) {
    return { injected: { checks: checks.value, ...difference({ ...rest, env: variables }, ordinary) } };
  }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, abbreviated(inner)]));
}

/** The fields of `actual` that differ in `base`, and null for those that only `base` has. */
function difference(actual: Fields, base: Fields): Fields {
  const result: Fields = {};
  for (const key of new Set([...Object.keys(base), ...Object.keys(actual)])) {
    const [seen, usual] = [actual[key], base[key]];
    if (isDeepStrictEqual(seen, usual)) continue;
    result[key] = isFields(seen) && isFields(usual) ? difference(seen, usual) : (seen ?? null);
  }
  return result;
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isPlainVariable = (variable: unknown): variable is { value: string } =>
  isFields(variable) &&
  isDeepStrictEqual(Object.keys(variable), ['name', 'value']) &&
  variable.name === 'CNI_GATE_CHECKS';
