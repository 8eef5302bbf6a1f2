import { objectBytes } from '../../lib/limits.ts';
import type { ApiClient } from '../client.ts';
import { type ClusterError, refusal, type Status } from '../errors.ts';
import { operationOf } from '../operation.ts';
import type { BoundedText } from '../stream/bounded-text.ts';
import {
  type ApiObject,
  type Entry,
  identityIn,
  isApiObject,
  type Metadata,
  pickEntry,
  type Source,
  type Unread,
} from './object.ts';
import { type End, endBy, Garbage, type Timing } from './retry.ts';

/** A line of a watch, with what a store keeps of the object. */
export type WatchEvent<T> =
  | { type: 'put'; entry: Entry<T> }
  /** The object exists and is not kept. */
  | ({ type: 'unread' } & Unread)
  | { type: 'removed'; metadata: Metadata }
  /** Nothing happened up to this version. */
  | { type: 'bookmark'; resourceVersion: string }
  | { type: 'error'; status: Status };

const ofObject = /^\{"type":"(ADDED|MODIFIED|DELETED)","object":/;

/**
 * Reads a line of a watch. Of an object that is too large only the beginning is read.
 * Source: https://kubernetes.io/docs/reference/using-api/api-concepts/#efficient-detection-of-changes
 *
 * @throws Garbage
 */
function readEvent<O extends ApiObject, T>(line: BoundedText, source: Source<O, T>): WatchEvent<T> {
  if (line.isTooLarge()) {
    const [begin = '', kind] = ofObject.exec(line.head) ?? [];
    const metadata = identityIn(line.head.slice(begin.length));
    if (metadata === undefined)
      throw new Garbage(`an event of ${line.bytes} bytes that does not begin with its name`);
    return kind === 'DELETED'
      ? { type: 'removed', metadata }
      : { type: 'unread', why: 'too-large', metadata };
  }
  const { type, object } = parse(line.text);
  switch (type) {
    case 'ADDED':
    case 'MODIFIED': {
      const found = pickEntry(object, source);
      if (found === undefined) throw noObject(type);
      return 'why' in found ? { type: 'unread', ...found } : { type: 'put', entry: found };
    }
    case 'DELETED':
      if (!isApiObject(object)) throw noObject(type);
      return { type: 'removed', metadata: object.metadata };
    case 'BOOKMARK':
      return { type: 'bookmark', resourceVersion: versionOf(object) };
    case 'ERROR':
      return { type: 'error', status: typeof object === 'object' && object !== null ? object : {} };
    default:
      throw new Garbage(`expected an event of a watch, got type ${JSON.stringify(type)}`);
  }
}

const noObject = (type: string): Garbage =>
  new Garbage(`${type} of a watch: its object has no name, uid or version`);

function parse(line: string): { type?: unknown; object?: unknown } {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    // reported below
  }
  if (typeof value !== 'object' || value === null) {
    throw new Garbage(`expected an event of a watch, got ${JSON.stringify(line.slice(0, 80))}`);
  }
  return value;
}

/** A bookmark's object has no more than a version. */
function versionOf(object: unknown): string {
  const { metadata } = (object ?? {}) as { metadata?: { resourceVersion?: unknown } | null };
  const version = metadata?.resourceVersion;
  if (typeof version !== 'string' || version === '') throw new Garbage('a bookmark without a version');
  return version;
}

/** A watch without an event that ends sooner than this, in milliseconds, was not served. */
const leastWatch = 1000;

/** How to watch, and who receives the events. */
export interface WatchOptions<T> {
  /** Where to go on. */
  resourceVersion: string;
  timing: Timing;
  random: number;
  signal: AbortSignal;
  /** Called when the watch is open. */
  onOpen: () => void;
  /** Called for each event but errors, in order. */
  onEvent: (event: Exclude<WatchEvent<T>, { type: 'error' }>) => void;
}

/**
 * Watches until the server ends the watch, until it should have ended it, or until the signal is aborted. Never throws.
 *
 * The server is asked to end the watch soon. If it does not, nothing comes through any more: a quiet watch alone does
 * not show that.
 */
export async function watchOnce<O extends ApiObject, T>(
  client: ApiClient,
  source: Source<O, T>,
  { resourceVersion, timing, random, signal, onOpen, onEvent }: WatchOptions<T>,
): Promise<End> {
  const { path, query } = source;
  // the API takes whole seconds
  const seconds = Math.max(1, Math.round((timing.watch * (1 + random / 3)) / 1000));
  const overdue = new AbortController();
  const timer = setTimeout(() => overdue.abort(), seconds * 1000 + timing.grace);
  let opened = Number.POSITIVE_INFINITY;
  let events = 0;
  const served = (): boolean =>
    events > 0 || performance.now() - opened >= Math.min(leastWatch, seconds * 500);
  try {
    const lines = await client.watch(path, {
      query: { ...query, resourceVersion, allowWatchBookmarks: true, timeoutSeconds: seconds },
      timeout: timing.answer,
      signal: AbortSignal.any([signal, overdue.signal]),
      objectBytes: source.objectBytes ?? objectBytes.default,
    });
    opened = performance.now();
    onOpen();
    for await (const line of lines) {
      const event = readEvent(line, source);
      if (event.type === 'error') throw errorOf(path, event.status);
      onEvent(event);
      events += 1;
    }
    return { reason: served() ? 'ended' : 'dropped' };
  } catch (error) {
    if (signal.aborted) return { reason: 'stale' };
    if (!overdue.signal.aborted) return endBy(error, served());
    client.dropIdle();
    return { reason: 'silent', served: events > 0 };
  } finally {
    clearTimeout(timer);
  }
}

function errorOf(path: string, status: Status): ClusterError {
  const code = typeof status.code === 'number' ? status.code : 500;
  return refusal(operationOf('GET', path, true), code, status);
}
