import { nameOf } from '../../lib/names.ts';
import type { ObjectText } from '../stream.ts';

/** What every object of the API carries, as far as it is read here. */
export interface ApiObject {
  metadata: Metadata;
}

/** The part of an object's metadata that is read. */
export interface Metadata {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string> | null;
}

/** How much is kept of objects that any user may create. */
export interface Retention<T> {
  /** Of all together; bytes by {@link Retention.weigh}. */
  max: { count: number; bytes: number };
  /** Bytes of one object (no limit by default). A larger one counts as too large. */
  each?: number;
  /** How much memory an object takes, in bytes. */
  weigh: (object: T) => number;
}

/** What an informer watches: one kind of objects, all of them or those that a selector chooses. */
export interface Source<O extends ApiObject, T> {
  /** For messages and metrics: `namespaces`. */
  resource: string;
  /** Such as `/api/v1/namespaces`. */
  path: string;
  /** `labelSelector`, `fieldSelector`. */
  query?: Record<string, string>;
  /** Bytes of the largest object that is read, as JSON (by default `objectBytes` of webhook/lib/limits.ts). */
  maxObject?: number;
  /** Whether an object matters, by its name and namespace. */
  wants?: (metadata: Metadata) => boolean;
  /** Picks from an object what decisions need; the rest is dropped. */
  pick: (object: O) => T;
  /** How much is kept of all objects together; all of them by default. */
  retention?: Retention<T>;
}

/** An object in the store: its identity, and of its content what was picked. */
export interface Entry<T> {
  key: string;
  /** A name is not an identity: the same name with another uid is another object. */
  uid: string;
  resourceVersion: string;
  object: T;
}

/** Why an object is not kept here: it is too large, it does not matter, or there are too many. */
export type LeftOut = 'too-large' | 'not-wanted' | 'too-many';

/** An object that exists and is not kept. */
export interface Unread {
  why: Exclude<LeftOut, 'too-many'>;
  metadata: Metadata;
}

/** What a store keeps of an object, or why it keeps nothing; undefined where the JSON is no object of the API. */
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

/** As {@link pickEntry}, of an object that was parsed. */
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

/** Whether an object that was picked takes more memory than one may. */
export const isTooLarge = <T>(object: T, retention: Retention<T> | undefined): boolean =>
  retention?.each !== undefined && retention.weigh(object) > retention.each;

/** Whether a value has a name, a UID and a version: the other fields of the API's answers are taken on trust. */
export function isApiObject(value: unknown): value is ApiObject {
  const { metadata } = (value ?? {}) as { metadata?: Record<string, unknown> | null };
  return ['name', 'uid', 'resourceVersion'].every((key) => typeof metadata?.[key] === 'string');
}

/**
 * Who an object is, read from the beginning of its JSON: the texts of its metadata before the first map or list.
 * Kubernetes writes `metadata` first, and in it the names, the UID and the version before all that is long (the order of
 * fields in `ObjectMeta`). No text in the JSON can contain `"metadata":{`, because its quotes are escaped.
 *
 * @returns undefined where the object does not begin so
 */
export function identityIn(head: string): Metadata | undefined {
  const [, fields = ''] = /"metadata":\{([^{[]*)/.exec(head) ?? [];
  const pairs = Array.from(fields.matchAll(/"(\w+)":"([^"\\]*)"/g), ([, key, value]) => [key, value]);
  const { name, namespace, uid, resourceVersion } = Object.fromEntries(pairs);
  if (!name || !uid || !resourceVersion) return undefined;
  return { name, uid, resourceVersion, ...(namespace && { namespace }) };
}
