import { objectBytes } from '../../lib/limits.ts';
import type { ApiClient } from '../client.ts';
import { type ClusterError, refusal, type Status } from '../errors.ts';
import { operationOf } from '../operation.ts';
import type { Source } from './list-all.ts';
import type { Outcome } from './next-step.ts';
import type { ApiObject } from './object.ts';
import { type Timing, watchSeconds } from './timing.ts';
import { readEvent, type WatchEvent } from './watch-event.ts';

/** A watch that ends sooner than this, in milliseconds, without having said anything, was not served. */
const leastWatch = 1000;

export interface WatchOptions<O> {
  /** Where to go on. */
  resourceVersion: string;
  timing: Timing;
  random: number;
  signal: AbortSignal;
  /** Called when the watch is open. */
  onOpen: () => void;
  /** Called for each event but errors, in order. */
  onEvent: (event: Exclude<WatchEvent<O>, { type: 'error' }>) => void;
}

/**
 * Watches until the server ends it, or until it should have. Never throws but for the signal.
 *
 * The server is asked to end the watch soon: one that goes on longer shows that nothing comes through any more, which
 * a quiet watch does not show by itself.
 */
export async function watchOnce<O extends ApiObject>(
  client: ApiClient,
  source: Pick<Source<O, unknown>, 'path' | 'query' | 'objectBytes' | 'wants'>,
  { resourceVersion, timing, random, signal, onOpen, onEvent }: WatchOptions<O>,
): Promise<Outcome> {
  const { path, query } = source;
  const seconds = watchSeconds(timing, random);
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
      const event = readEvent<O>(line, source);
      if (event.type === 'error') throw errorOf(path, event.status);
      onEvent(event);
      events += 1;
    }
    return { type: served() ? 'ended' : 'dropped' };
  } catch (error) {
    signal.throwIfAborted();
    if (!overdue.signal.aborted) return { type: 'failed', during: 'watch', served: served(), error };
    client.dropIdle();
    return { type: 'silent', served: events > 0 };
  } finally {
    clearTimeout(timer);
  }
}

function errorOf(path: string, status: Status): ClusterError {
  const code = typeof status.code === 'number' ? status.code : 500;
  return refusal(operationOf('GET', path, true), code, status);
}
