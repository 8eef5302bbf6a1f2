import { isObject } from '../../lib/json.ts';

/** An expression of the Common Expression Language, in the dialect of Kubernetes' admission policies. */
export type Cel = string;

/** An entry of a map that is there only on a condition. */
export interface Optional {
  when: Cel;
  value: Cel;
}

// JSON's texts are texts of CEL as well
export const text = (value: string): Cel => JSON.stringify(value);
export const list = (items: readonly Cel[]): Cel => `[${items.join(', ')}]`;
export const textList = (values: readonly string[]): Cel => list(values.map(text));

/** A map. The values of several entries may have any types. */
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

/** An entry that is there if a list or a map in a variable is not empty. */
export const ifAny = (variable: string, value = `variables.${variable}`): Optional => ({
  when: `size(variables.${variable}) > 0`,
  value,
});

/** A JSON value as an expression. The API server evaluates a map of texts once, when it compiles the expression. */
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

/** The first item of the joined lists, one of which must have an item. */
export const first = (...lists: Cel[]): Cel => `(${lists.join(' + ')})[0]`;

/** A list with only the first item of the joined lists, if there is one. */
export const head = (lists: readonly Cel[]): Cel =>
  `[${lists.join(' + ')}].map(l, size(l) > 0 ? [l[0]] : [])[0]`;

/** Texts joined by commas, without the empty ones. */
export const joined = (texts: Cel): Cel => `${texts}.filter(t, t != "").join(",")`;

/** Whether a profile applies to the pod. */
export const applies = (profile: string): Cel => `${text(profile)} in variables.profiles`;

/** What each profile `p` that applies adds to a text, joined by commas in the order of the label. */
export function ofProfiles(values: Iterable<readonly [name: string, value: Cel]>): Cel {
  const names = Map.groupBy(values, ([, value]) => value);
  const choices = Array.from(
    names,
    ([value, of]) => `p in ${textList(of.map(([name]) => name))} ? ${value} : `,
  );
  return joined(`variables.profiles.map(p, ${choices.join('')}"")`);
}

/**
 * Variables and an expression over them, where all variables but the named ones are put in place. The API server runs
 * each variable as a program of its own, which costs more than most expressions.
 */
export function inPlace(
  variables: Record<string, Cel>,
  expression: Cel,
  kept: readonly string[],
): [Record<string, Cel>, Cel] {
  const values = new Map<string, Cel>();
  const expand = (within: Cel): Cel =>
    within.replaceAll(/\bvariables\.(\w+)/g, (read, name: string) => values.get(name) ?? read);
  const left: Record<string, Cel> = {};
  for (const [name, value] of Object.entries(variables)) {
    if (kept.includes(name)) left[name] = expand(value);
    else values.set(name, `(${expand(value)})`);
  }
  return [left, expand(expression)];
}
