import jsonpatch, { type Operation } from 'fast-json-patch';
import type { Path } from '../model.ts';

/** A path as JSON Pointer (RFC 6901). */
export const pointer = (path: Path): string =>
  path.map((part) => `/${jsonpatch.escapePathComponent(String(part))}`).join('');

/** The parts of a JSON Pointer, as numbers if they look like an index. */
export const parts = (text: string): (string | number)[] =>
  text
    .split('/')
    .slice(1)
    .map((part) => jsonpatch.unescapePathComponent(part))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part));

/** Operations on a value inside an object, as operations on the object. */
export function relocate(operations: readonly Operation[], to: Path): Operation[] {
  const prefix = pointer(to);
  return operations.map((operation) => ({
    ...operation,
    path: `${prefix}${operation.path}`,
    ...('from' in operation && { from: `${prefix}${operation.from}` }),
  }));
}
