import jsonpatch, { type Operation } from 'fast-json-patch';
import { CniGateError } from '../lib/errors.ts';
import { isObject } from '../lib/json.ts';
import type { Path } from './model.ts';

/** A JSON object. */
export type Fields = Record<string, unknown>;

/** The value itself if it is an object, otherwise an empty object. */
export const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});

/** The value at a path inside a value; undefined if there is none. Only own properties count, not inherited ones. */
export function valueAt(value: unknown, path: Path): unknown {
  let at = value;
  for (const part of path) {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, part)) return undefined;
    at = (at as Fields)[part];
  }
  return at;
}

/** A short description of any value for an error text. */
export function describe(value: unknown): string {
  if (value === null || value === undefined) return 'nothing';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** A path as JSON Pointer (RFC 6901). */
export const pointer = (path: Path): string =>
  path.map((part) => `/${jsonpatch.escapePathComponent(String(part))}`).join('');

/** Prefixes the paths of operations, so that operations on an inner value apply to the object around it. */
export function relocate(operations: readonly Operation[], to: Path): Operation[] {
  const prefix = pointer(to);
  return operations.map((operation) => ({
    ...operation,
    path: `${prefix}${operation.path}`,
    ...('from' in operation && { from: `${prefix}${operation.from}` }),
  }));
}

/** The error for an object that Kubernetes would not accept. */
export const wrong = (message: string): CniGateError => new CniGateError('CNI_GATE_INPUT_SYNTAX', message);
