import type { ApiClient } from '../client.ts';
import { operationText, refusal, type Status, unreachable } from '../errors.ts';
import { Silence } from '../exchange.ts';
import type { ObjectText } from '../stream.ts';
import {
  type ApiObject,
  type Entry,
  entryOf,
  type Identity,
  identityOf,
  type Source,
  type Unread,
  unreadOf,
} from './object.ts';

export type WatchEvent<T> =
  | { type: 'put'; entry: Entry<T> | Unread }
  | { type: 'removed'; entry: Identity }
  | { type: 'bookmark'; resourceVersion: string };

/** @throws ClusterError for an ERROR event; Error if the text is not an event */
function readEvent<O extends ApiObject, T>({ text, isCut }: ObjectText, source: Source<O, T>): WatchEvent<T> {
  if (isCut) {
    const entry = unreadOf(text);
    if (entry === undefined) throw new Error('a large event that does not begin with its name');
    // this is right for a deletion, too: without an object, the store only removes the old object
    return { type: 'put', entry };
  }
  const { type, object } = (JSON.parse(text) ?? {}) as { type?: unknown; object?: Status };
  if (type === 'ADDED' || type === 'MODIFIED') {
    const entry = entryOf(object, source);
    if (entry !== undefined) return { type: 'put', entry };
  }
  if (type === 'DELETED') {
    const entry = identityOf(object);
    if (entry !== undefined) return { type: 'removed', entry };
  }
  if (type === 'BOOKMARK') {
    const { metadata } = (object ?? {}) as { metadata?: { resourceVersion?: unknown } | null };
    const resourceVersion = metadata?.resourceVersion;
    if (typeof resourceVersion === 'string') return { type: 'bookmark', resourceVersion };
  }
  if (type === 'ERROR') {
    const code = typeof object?.code === 'number' ? object.code : 500;
    throw refusal(operationText('GET', source.path, true), code, object ?? {});
  }
  throw new Error(`expected an event of a watch, got ${JSON.stringify(text.slice(0, 80))}`);
}

/** Milliseconds. A watch that ends sooner than this, and without any event, counts as failed. */
const leastWatch = 1000;

export interface WatchOptions<T> {
  resourceVersion: string;
  /** After how many whole seconds the server should end the watch: `timeoutSeconds` of the request. */
  seconds: number;
  /** How many milliseconds late the watch may end before it counts as dead. */
  grace: number;
  /** How many milliseconds the head of the answer may take. */
  timeout: number;
  signal: AbortSignal;
  onOpen: () => void;
  onEvent: (event: WatchEvent<T>) => void;
}

/**
 * Watches until the server ends the watch. A silent watch counts as dead only if it does not end in time.
 * @throws ClusterError; Error for text that is not an event
 */
export async function watchOnce<O extends ApiObject, T>(
  client: ApiClient,
  source: Source<O, T>,
  { resourceVersion, seconds, grace, timeout, signal, onOpen, onEvent }: WatchOptions<T>,
): Promise<void> {
  const { path, query, maxObject } = source;
  const overdue = new AbortController();
  const timer = setTimeout(() => overdue.abort(), seconds * 1000 + grace);
  const failed = (error: Error) => unreachable(operationText('GET', path, true), client.server, error);
  try {
    const stream = await client.stream(path, {
      layout: 'events',
      maxObject,
      query: { ...query, resourceVersion, allowWatchBookmarks: true, timeoutSeconds: seconds },
      timeout,
      signal: AbortSignal.any([signal, overdue.signal]),
    });
    const opened = performance.now();
    onOpen();
    let events = 0;
    for await (const event of stream) {
      onEvent(readEvent(event, source));
      events += 1;
    }
    if (events > 0 || performance.now() - opened >= Math.min(leastWatch, seconds * 500)) return;
    throw failed(new Error('it ended the watch immediately'));
  } catch (error) {
    if (signal.aborted || !overdue.signal.aborted) throw error;
    client.dropConnections();
    throw failed(new Silence(`a watch of ${seconds} s did not end`));
  } finally {
    clearTimeout(timer);
  }
}
