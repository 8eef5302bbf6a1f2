import { isObject } from '../../lib/json.ts';

/** An expression of the Common Expression Language, in the dialect of Kubernetes' admission policies. */
export type Cel = string;

/** An entry of a map that exists only if a condition holds. */
export interface Optional {
  when: Cel;
  value: Cel;
}

/** A string literal. It contains only ASCII, because YAML folds or forbids some of the other characters. */
export const text = (value: string): Cel =>
  // a JSON string is also a valid CEL string, except that CEL has no surrogates
  JSON.stringify(value.toWellFormed()).replaceAll(
    /[^ -~]/gu,
    (other) => `\\U${other.codePointAt(0)?.toString(16).padStart(8, '0')}`,
  );
export const list = (items: readonly Cel[]): Cel => `[${items.join(', ')}]`;
export const textList = (values: readonly string[]): Cel => list(values.map(text));

/** A CEL map. If it has several entries, their values may have different types. */
export function map(entries: Record<string, Cel | Optional>): Cel {
  const all = Object.entries(entries);
  const any = (value: Cel): Cel => (all.length > 1 ? `dyn(${value})` : value);
  const fields = all.map(([key, value]) =>
    typeof value === 'string'
      ? `${text(key)}: ${any(value)}`
      : `?${text(key)}: ${value.when} ? optional.of(${any(value.value)}) : optional.none()`,
  );
  return `{${fields.join(', ')}}`;
}

/** An entry that exists only if a variable of the policy (a list or a map) is not empty. */
export const ifAny = (variable: string, value = `variables.${variable}`): Optional => ({
  when: `size(variables.${variable}) > 0`,
  value,
});

/** A JSON value as an expression. A map of strings is a constant, which the API server evaluates only once. */
export function literal(value: unknown): Cel {
  if (Array.isArray(value)) return list(value.map(literal));
  if (!isObject(value) || Object.values(value).every((inner) => typeof inner === 'string'))
    return JSON.stringify(value);
  return map(Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, literal(inner)])));
}

export const anyOf = (conditions: readonly Cel[]): Cel =>
  conditions.length === 0 ? 'false' : `(${conditions.join(' || ')})`;
export const allOf = (conditions: readonly Cel[]): Cel =>
  conditions.length === 0 ? 'true' : `(${conditions.join(' && ')})`;

/** The first item of the concatenated lists. At least one list must have an item. */
export const first = (...lists: Cel[]): Cel => `(${lists.join(' + ')})[0]`;

/** A list with only the first item of the concatenated lists; empty if they have no item. */
export const head = (lists: readonly Cel[]): Cel =>
  `[${lists.join(' + ')}].map(l, size(l) > 0 ? [l[0]] : [])[0]`;

/** The strings of a list, joined by commas, without the empty strings. */
export const joined = (texts: Cel): Cel => `${texts}.filter(t, t != "").join(",")`;

/** Whether a profile applies to the pod. */
export const applies = (profile: string): Cel => `${text(profile)} in variables.profiles`;

/** A string for each profile `p` that applies, joined by commas in the order of the label. */
export function ofProfiles(values: Iterable<readonly [name: string, value: Cel]>): Cel {
  const names = Map.groupBy(values, ([, value]) => value);
  const choices = Array.from(
    names,
    ([value, of]) => `p in ${textList(of.map(([name]) => name))} ? ${value} : `,
  );
  return joined(`variables.profiles.map(p, ${choices.join('')}"")`);
}

/**
 * Replaces all variables except `kept` by their values, in an expression and in later variables. The API server runs
 * each variable as a separate program, which costs more than evaluating most expressions in place. String literals do
 * not change: they contain texts of the configuration.
 */
export function inPlace(
  variables: Record<string, Cel>,
  expression: Cel,
  kept: readonly string[],
): [Record<string, Cel>, Cel] {
  const values = new Map<string, Cel>();
  const expand = (within: Cel): Cel =>
    within.replaceAll(
      /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\bvariables\.(\w+)/g,
      (read, name?: string) => (name === undefined ? undefined : values.get(name)) ?? read,
    );
  const left: Record<string, Cel> = {};
  for (const [name, value] of Object.entries(variables)) {
    if (kept.includes(name)) left[name] = expand(value);
    else values.set(name, `(${expand(value)})`);
  }
  return [left, expand(expression)];
}
