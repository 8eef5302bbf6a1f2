import { nameOf } from '../../lib/names.ts';

export interface ApiObject {
  metadata: Metadata;
}

export interface Metadata {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string> | null;
}

export interface Retention<T> {
  /** The limits for all objects together. */
  max: { count: number; bytes: number };
  /** Returns how many bytes of memory an object takes. */
  weigh: (object: T) => number;
}

/** What an informer lists and watches. */
export interface Source<O extends ApiObject, T> {
  /** The name in messages and metrics, such as `namespaces`. */
  resource: string;
  path: string;
  query?: Record<string, string>;
  /** The maximum size of an object that is read, in bytes of JSON (default `objectBytes`). */
  maxObject?: number;
  /** Decides by an object's name and namespace whether to keep it. By default, all objects are kept. */
  wants?: (metadata: Metadata) => boolean;
  pick: (object: O) => T;
  /** What the store may keep; by default, all objects. */
  retention?: Retention<T>;
}

/** Identifies one version of an object. `key` is `namespace/name`. */
export interface Identity {
  key: string;
  uid: string;
  resourceVersion: string;
}

export interface Entry<T> extends Identity {
  object: T;
}

export type LeftOut = 'too-large' | 'not-wanted' | 'too-many';

/** An object that exists but is not kept. */
export interface Unread extends Identity {
  why: Exclude<LeftOut, 'too-many'>;
}

/** The entry to keep for a value, or why none is kept; undefined if the value is not an API object. */
export function entryOf<O extends ApiObject, T>(
  value: unknown,
  { wants, pick }: Source<O, T>,
): Entry<T> | Unread | undefined {
  const identity = identityOf(value);
  if (identity === undefined) return undefined;
  const object = value as O;
  if (wants?.(object.metadata) === false) return { ...identity, why: 'not-wanted' };
  return { ...identity, object: pick(object) };
}

/** The identity of a value; undefined if its name, its UID or its version is not a string. */
export function identityOf(value: unknown): Identity | undefined {
  const { metadata } = (value ?? {}) as { metadata?: Record<string, unknown> | null };
  if (!['name', 'uid', 'resourceVersion'].every((key) => typeof metadata?.[key] === 'string'))
    return undefined;
  const { uid, resourceVersion } = metadata as unknown as Metadata;
  return { key: nameOf(metadata as unknown as Metadata), uid, resourceVersion };
}

/**
 * Reads the identity from the beginning of an oversized object's JSON. Kubernetes writes `metadata` before long
 * fields. `metadata` begins with the names, the UID and the version (the order of `ObjectMeta`). A string cannot
 * contain `"metadata":{`, because quotes within strings are escaped.
 */
export function unreadOf(head: string): Unread | undefined {
  const [, fields = ''] = /"metadata":\{([^{[]*)/.exec(head) ?? [];
  const pairs = Array.from(fields.matchAll(/"(\w+)":"([^"\\]+)"/g), ([, key, value]) => [key, value]);
  const identity = identityOf({ metadata: Object.fromEntries(pairs) });
  return identity && { ...identity, why: 'too-large' };
}
