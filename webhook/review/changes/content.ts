import { createHash } from 'node:crypto';
import { isObject } from '../values.ts';

/**
 * A digest of a value's content. Values that differ only in comments, layout or the order of keys have the same one.
 *
 * @throws RangeError if it is nested too deeply
 */
export const contentOf = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(sorted(value)))
    .digest('base64');

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return ['list', ...value.map(sorted)];
  if (!isObject(value)) return value;
  // pairs: `__proto__` would not become a key of an object
  const keys = Object.keys(value).sort();
  return ['map', ...keys.map((key) => [key, sorted(value[key])])];
}
