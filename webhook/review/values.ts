import type { Path } from './model.ts';

/** A JSON object. */
export type Fields = Record<string, unknown>;

/** Whether a value is an object, and neither null nor a list. */
export const isObject = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The value as an object; an empty one if it is not an object. */
export const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});

/** The value inside another, or undefined. Own keys only. */
export function valueAt(value: unknown, path: Path): unknown {
  let at = value;
  for (const part of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return undefined;
    at = (at as Fields)[part];
  }
  return at;
}

/** A copy as it would be sent: values that YAML aliases share are repeated. */
export const wireCopy = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** A short description of any value for an error text. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
