import { type ApiObject, type Entry, identityIn, keyOf, type Metadata } from './object.ts';

/** How much is kept of objects that any user may create. */
export interface Retention<T> {
  /** Of all together; bytes by {@link Retention.weigh}. */
  max: { count: number; bytes: number };
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
  /** Objects per page (500 by default): fewer where any user may create large ones. */
  pageSize?: number;
  /** How many bytes of JSON an object may have (see `objectBytes`). A larger one is not kept. */
  objectBytes?: number;
  /** Whether an object matters, by its name and namespace. An object that does not matter is not parsed. */
  wants?: (metadata: Metadata) => boolean;
  /** Picks from an object what decisions need; the rest is dropped. */
  pick: (object: O) => T;
  /** Whether the picked part may be kept; otherwise the object counts as too large. */
  fits?: (object: T) => boolean;
  /** How much is kept of all objects together; all of them by default. */
  retention?: Retention<T>;
}

/** Why an object is not kept here: it is too large, it does not matter, or there are too many. */
export type LeftOut = 'too-large' | 'not-wanted' | 'too-many';

/** An object that exists and is not kept. */
export interface Unread {
  why: Exclude<LeftOut, 'too-many'>;
  metadata: Metadata;
}

/**
 * Why an object is not even parsed, by the beginning of its JSON; undefined where it has to be parsed, or does not begin
 * with its name.
 */
export function unparsed(
  { wants }: Pick<Source<never, unknown>, 'wants'>,
  isTooLarge: boolean,
  head: () => string,
): Unread | undefined {
  if (!isTooLarge && wants === undefined) return undefined;
  const metadata = identityIn(head());
  if (metadata === undefined) return undefined;
  if (wants?.(metadata) === false) return { why: 'not-wanted', metadata };
  return isTooLarge ? { why: 'too-large', metadata } : undefined;
}

/** What a store keeps of a parsed object, or why it keeps nothing. */
export function pickEntry<O extends ApiObject, T>(
  object: O,
  { wants, fits, pick }: Pick<Source<O, T>, 'wants' | 'fits' | 'pick'>,
): Entry<T> | Unread {
  const { metadata } = object;
  if (wants?.(metadata) === false) return { why: 'not-wanted', metadata };
  const { uid, resourceVersion } = metadata;
  const entry = { key: keyOf(metadata), uid, resourceVersion, object: pick(object) };
  return fits?.(entry.object) === false ? { why: 'too-large', metadata } : entry;
}

/** An answer of the API server that is not valid. What it sent before may be wrong as well. */
export class Garbage extends Error {}
