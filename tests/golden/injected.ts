import { readFileSync } from 'node:fs';
import { isDeepStrictEqual as same } from 'node:util';
import { parse } from 'yaml';

type Fields = Record<string, unknown>;

const ordinary: { container: Fields; variables: Fields[]; volume: Fields } = parse(
  readFileSync(new URL('./injected.yaml', import.meta.url), 'utf8'),
);

/**
 * A value of a patch in which injected values are abbreviated. The init container becomes `injected` with its checks
 * and the fields that differ from those in `injected.yaml`. A field that the container lacks is null. If a variable has
 * the same value as in that file, only its name remains. Different containers never have the same short form. The
 * volume of that file becomes `injected: volume`.
 */
export function abbreviated(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(abbreviated);
  if (!isFields(value)) return value;
  if (same(value, ordinary.volume)) return { injected: 'volume' };
  const { env, ...rest } = value;
  const [checks, ...variables] = Array.isArray(env) ? env : [];
  if (value.name === ordinary.container.name && isPlainVariable(checks)) {
    const container = { ...rest, env: variables.map(nameOrVariable) };
    return { injected: { checks: checks.value, ...difference(container, ordinary.container) } };
  }
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, abbreviated(inner)]));
}

const nameOrVariable = (variable: Fields): unknown =>
  ordinary.variables.some((usual) => same(usual, variable)) ? variable.name : variable;

/** The fields of `actual` that differ from those of `base`, and null for fields that only `base` has. */
function difference(actual: Fields, base: Fields): Fields {
  const result: Fields = {};
  for (const key of new Set([...Object.keys(base), ...Object.keys(actual)])) {
    const [seen, usual] = [actual[key], base[key]];
    if (same(seen, usual)) continue;
    result[key] = isFields(seen) && isFields(usual) ? difference(seen, usual) : (seen ?? null);
  }
  return result;
}

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isPlainVariable = (variable: unknown): variable is { value: string } =>
  isFields(variable) && same(Object.keys(variable), ['name', 'value']) && variable.name === 'CNI_GATE_CHECKS';
