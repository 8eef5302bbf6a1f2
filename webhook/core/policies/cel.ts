import { isObject } from '../../lib/json.ts';

/** An expression of the Common Expression Language, in the dialect of Kubernetes' admission policies. */
export type Cel = string;

export const text = (value: string): Cel => JSON.stringify(value);
export const list = (items: readonly Cel[]): Cel => `[${items.join(', ')}]`;
export const textList = (values: readonly string[]): Cel => list(values.map(text));

/** A map of values of any types. A value that ends in {@link optional} is left out where it is none. */
export const map = (entries: Record<string, Cel>): Cel =>
  `{${Object.entries(entries)
    .map(([key, value]) =>
      value.startsWith('optional:') ? `?${text(key)}: ${value.slice(9)}` : `${text(key)}: dyn(${value})`,
    )
    .join(', ')}}`;

/** An entry of {@link map} that is there only on a condition. */
export const optional = (condition: Cel, value: Cel): Cel =>
  `optional:(${condition} ? optional.of(dyn(${value})) : optional.none())`;

/** A JSON value as an expression. */
export function literal(value: unknown): Cel {
  if (Array.isArray(value)) return list(value.map(literal));
  if (!isObject(value)) return JSON.stringify(value);
  return map(Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, literal(inner)])));
}

export const anyOf = (conditions: readonly Cel[]): Cel =>
  conditions.length === 0 ? 'false' : `(${conditions.join(' || ')})`;
export const allOf = (conditions: readonly Cel[]): Cel =>
  conditions.length === 0 ? 'true' : `(${conditions.join(' && ')})`;

/** A value that depends on a name: `name == "a" ? x : name == "b" ? y : otherwise`. */
export const byName = (name: Cel, values: Iterable<readonly [string, Cel]>, otherwise: Cel): Cel =>
  [...values].reduceRight((rest, [key, value]) => `${name} == ${text(key)} ? ${value} : ${rest}`, otherwise);

/** Texts joined by commas, without the empty ones. */
export const joined = (texts: readonly Cel[]): Cel => `${list(texts)}.filter(part, part != "").join(",")`;
