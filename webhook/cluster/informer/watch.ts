import type { ApiClient } from '../client.ts';
import { operationText, refusal, type Status, unreachable } from '../errors.ts';
import { Silence } from '../exchange.ts';
import type { ObjectText } from '../stream.ts';
import {
  type ApiObject,
  type Entry,
  entryOf,
  identityIn,
  isApiObject,
  type Metadata,
  type Source,
  type Unread,
} from './object.ts';

export type WatchEvent<T> =
  | { type: 'put'; entry: Entry<T> }
  | ({ type: 'unread' } & Unread)
  | { type: 'removed'; metadata: Metadata }
  | { type: 'bookmark'; resourceVersion: string };

/** @throws ClusterError for an ERROR event; Error where it is no event: what was sent before may be wrong as well */
function readEvent<O extends ApiObject, T>({ text, isCut }: ObjectText, source: Source<O, T>): WatchEvent<T> {
  if (isCut) {
    const metadata = identityIn(text);
    if (metadata === undefined) throw new Error('a large event that does not begin with its name');
    const isGone = text.startsWith('{"type":"DELETED"');
    return isGone ? { type: 'removed', metadata } : { type: 'unread', why: 'too-large', metadata };
  }
  const { type, object } = (JSON.parse(text) ?? {}) as { type?: unknown; object?: Status };
  if (type === 'ADDED' || type === 'MODIFIED') {
    const found = entryOf(object, source);
    if (found !== undefined)
      return 'why' in found ? { type: 'unread', ...found } : { type: 'put', entry: found };
  }
  if (type === 'DELETED' && isApiObject(object)) return { type: 'removed', metadata: object.metadata };
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

/** Milliseconds. A watch without an event that ends sooner was not served. */
const leastWatch = 1000;

export interface WatchOptions<T> {
  resourceVersion: string;
  /** Whole seconds, `timeoutSeconds` of the request. */
  seconds: number;
  /** Milliseconds that the end may be late before the watch counts as dead. */
  grace: number;
  /** Milliseconds until the head of the answer. */
  timeout: number;
  signal: AbortSignal;
  onOpen: () => void;
  onEvent: (event: WatchEvent<T>) => void;
}

/**
 * Watches until the server ends the watch. One that does not end in time is dead; a quiet one may be alive.
 * @throws ClusterError; Error for a line that is no event
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
    throw failed(new Error('it ended the watch at once'));
  } catch (error) {
    if (signal.aborted || !overdue.signal.aborted) throw error;
    client.dropConnections();
    throw failed(new Silence(`a watch of ${seconds} s did not end`));
  } finally {
    clearTimeout(timer);
  }
}
