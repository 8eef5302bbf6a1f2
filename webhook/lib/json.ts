/** Whether a JSON value is an object, and neither null nor a list. */
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value itself if it is an object, otherwise an empty object. */
export const fieldsOf = (value: unknown): Record<string, unknown> => (isObject(value) ? value : {});

/** The value at a path inside a value; undefined if there is none. Only own properties count, not inherited ones. */
export function valueAt(value: unknown, path: readonly (string | number)[]): unknown {
  let at = value;
  for (const part of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return undefined;
    at = (at as Record<string, unknown>)[part];
  }
  return at;
}

/** A short description of any value for an error text. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
