import { nameOf } from '../../lib/names.ts';
import type { ObjectText } from '../stream.ts';

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
  /** Whether to keep an object, by its name and namespace. */
  wants?: (metadata: Metadata) => boolean;
  pick: (object: O) => T;
  /** What the store may keep; by default, all objects. */
  retention?: Retention<T>;
}

export interface Entry<T> {
  key: string;
  uid: string;
  resourceVersion: string;
  object: T;
}

export type LeftOut = 'too-large' | 'not-wanted' | 'too-many';

/** An object that exists but is not kept. */
export interface Unread {
  why: Exclude<LeftOut, 'too-many'>;
  metadata: Metadata;
}

/** Returns the entry to keep for an object, or why none is kept; undefined if the JSON is not an API object. */
export function pickEntry<O extends ApiObject, T>({ text, isCut }: ObjectText, source: Source<O, T>) {
  if (!isCut) return entryOf(parsed(text), source);
  const metadata = identityIn(text);
  return metadata && ({ why: 'too-large', metadata } satisfies Unread);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function entryOf<O extends ApiObject, T>(
  value: unknown,
  { wants, pick }: Source<O, T>,
): Entry<T> | Unread | undefined {
  if (!isApiObject(value)) return undefined;
  const { metadata } = value;
  if (wants?.(metadata) === false) return { why: 'not-wanted', metadata };
  const { uid, resourceVersion } = metadata;
  return { key: nameOf(metadata), uid, resourceVersion, object: pick(value as O) };
}

/** Checks only that the name, the UID and the version are strings. */
export function isApiObject(value: unknown): value is ApiObject {
  const { metadata } = (value ?? {}) as { metadata?: Record<string, unknown> | null };
  return ['name', 'uid', 'resourceVersion'].every((key) => typeof metadata?.[key] === 'string');
}

/**
 * Reads the identity from the beginning of an object's JSON. Kubernetes writes `metadata` before long fields, and
 * within it the names, the UID and the version before long fields (the order of `ObjectMeta`). A string cannot contain
 * `"metadata":{`, because quotes within strings are escaped.
 */
export function identityIn(head: string): Metadata | undefined {
  const [, fields = ''] = /"metadata":\{([^{[]*)/.exec(head) ?? [];
  const pairs = Array.from(fields.matchAll(/"(\w+)":"([^"\\]*)"/g), ([, key, value]) => [key, value]);
  const { name, namespace, uid, resourceVersion } = Object.fromEntries(pairs);
  if (!name || !uid || !resourceVersion) return undefined;
  return { name, uid, resourceVersion, ...(namespace && { namespace }) };
}
