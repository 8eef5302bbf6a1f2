import type { Status } from '../errors.ts';
import type { BoundedText } from '../stream/bounded-text.ts';
import { type Source, type Unread, unread } from './list-all.ts';
import { type ApiObject, isApiObject } from './object.ts';

/** A line of a watch. */
export type WatchEvent<O> =
  | { type: 'put' | 'removed'; object: O }
  /** An object is there, or was, and is not read. */
  | ({ type: 'unread'; isGone: boolean } & Unread)
  /** Nothing happened up to this version. */
  | { type: 'bookmark'; resourceVersion: string }
  | { type: 'error'; status: Status };

/** A line that is no event. Whatever else the stream said may be wrong as well. */
export class Garbage extends Error {}

const ofObject = /^\{"type":"(ADDED|MODIFIED|DELETED)","object":/;

/**
 * Reads a line of a watch, as far as it matters: an object that is too large, or does not matter, is not parsed.
 *
 * @throws Garbage
 */
export function readEvent<O extends ApiObject>(
  line: BoundedText,
  source: Pick<Source<O, unknown>, 'wants'>,
): WatchEvent<O> {
  const isTooLarge = line.isTooLarge();
  const type = isTooLarge || source.wants !== undefined ? ofObject.exec(line.head) : null;
  if (type !== null) {
    const found = unread(source, isTooLarge, () => line.head.slice(type[0].length));
    if (found !== undefined && found.why !== 'nameless') {
      return { type: 'unread', isGone: type[1] === 'DELETED', ...found };
    }
  }
  if (isTooLarge) throw new Garbage(`an event of ${line.bytes} bytes that does not tell its name first`);
  return parseEvent(line.text);
}

/**
 * Reads a line of a watch.
 * Source: https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
 *
 * @throws Garbage
 */
export function parseEvent<O extends ApiObject>(line: string): WatchEvent<O> {
  const { type, object } = parse(line);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
      return { type: 'put', object: checked(type, object) };
    case 'DELETED':
      return { type: 'removed', object: checked(type, object) };
    case 'BOOKMARK':
      return { type: 'bookmark', resourceVersion: versionOf(object) };
    case 'ERROR':
      return { type: 'error', status: typeof object === 'object' && object !== null ? object : {} };
    default:
      throw new Garbage(`expected an event of a watch, got type ${JSON.stringify(type)}`);
  }
}

function parse(line: string): { type?: unknown; object?: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // told below
  }
  if (typeof value !== 'object' || value === null) {
    throw new Garbage(`expected an event of a watch, got ${JSON.stringify(line.slice(0, 80))}`);
  }
  return value;
}

function checked<O extends ApiObject>(type: string, object: unknown): O {
  if (!isApiObject(object)) throw new Garbage(`${type} of a watch: its object has no name, uid or version`);
  return object as O;
}

/** A bookmark's object has no more than a version. */
function versionOf(object: unknown): string {
  const { metadata } = (object ?? {}) as { metadata?: { resourceVersion?: unknown } | null };
  const version = metadata?.resourceVersion;
  if (typeof version !== 'string' || version === '') throw new Garbage('a bookmark without a version');
  return version;
}
