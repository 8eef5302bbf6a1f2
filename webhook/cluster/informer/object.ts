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
  /** Of all objects together. */
  max: { count: number; bytes: number };
  /** Bytes of one object (no limit by default). */
  each?: number;
  /** Bytes of memory. */
  weigh: (object: T) => number;
}

/** What an informer lists and watches. */
export interface Source<O extends ApiObject, T> {
  /** For messages and metrics: `namespaces`. */
  resource: string;
  path: string;
  query?: Record<string, string>;
  /** Bytes of JSON of the largest object that is read (default `objectBytes`). */
  maxObject?: number;
  /** By name and namespace. */
  wants?: (metadata: Metadata) => boolean;
  pick: (object: O) => T;
  /** Everything is kept by default. */
  retention?: Retention<T>;
}

export interface Entry<T> {
  key: string;
  uid: string;
  resourceVersion: string;
  object: T;
}

export type LeftOut = 'too-large' | 'not-wanted' | 'too-many';

/** An object that exists and is not kept. */
export interface Unread {
  why: Exclude<LeftOut, 'too-many'>;
  metadata: Metadata;
}

/** Undefined where the JSON is no object of the API. */
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
  { wants, pick, retention }: Source<O, T>,
): Entry<T> | Unread | undefined {
  if (!isApiObject(value)) return undefined;
  const { metadata } = value;
  if (wants?.(metadata) === false) return { why: 'not-wanted', metadata };
  const { uid, resourceVersion } = metadata;
  const entry = { key: nameOf(metadata), uid, resourceVersion, object: pick(value as O) };
  return isTooLarge(entry.object, retention) ? { why: 'too-large', metadata } : entry;
}

/** Whether an object takes more memory than {@link Retention.each}. */
export const isTooLarge = <T>(object: T, retention: Retention<T> | undefined): boolean =>
  retention?.each !== undefined && retention.weigh(object) > retention.each;

/** Only the identity is checked. */
export function isApiObject(value: unknown): value is ApiObject {
  const { metadata } = (value ?? {}) as { metadata?: Record<string, unknown> | null };
  return ['name', 'uid', 'resourceVersion'].every((key) => typeof metadata?.[key] === 'string');
}

/**
 * The identity, from the beginning of an object's JSON. Kubernetes writes `metadata` first, and in it the names, the
 * UID and the version before all that is long (the order of fields in `ObjectMeta`). No text in the JSON can contain
 * `"metadata":{`, because its quotes are escaped.
 */
export function identityIn(head: string): Metadata | undefined {
  const [, fields = ''] = /"metadata":\{([^{[]*)/.exec(head) ?? [];
  const pairs = Array.from(fields.matchAll(/"(\w+)":"([^"\\]*)"/g), ([, key, value]) => [key, value]);
  const { name, namespace, uid, resourceVersion } = Object.fromEntries(pairs);
  if (!name || !uid || !resourceVersion) return undefined;
  return { name, uid, resourceVersion, ...(namespace && { namespace }) };
}
