import { objectBytes, pageBytes } from '../../lib/limits.ts';
import type { ApiClient } from '../client.ts';
import { operationText, unreachable } from '../errors.ts';
import type { BoundedText } from '../stream.ts';
import { type ApiObject, pickEntry, type Source, type Unread } from './object.ts';
import { Store } from './store.ts';

interface Page {
  metadata?: { resourceVersion?: string; continue?: string } | null;
  items?: unknown[] | null;
}

interface ListOptions {
  /** Milliseconds without a byte (default 10 s). */
  timeout?: number;
  signal?: AbortSignal;
  /** Called when a page has come. */
  onPage?: () => void;
  /** Called for each object that exists and is not read; there is no limit to their number. */
  onUnread?: (unread: Unread) => void;
}

const defaultPageSize = 500;

/**
 * Lists everything, page by page. The request names no version, so the answer is up to date and not from a cache that
 * is behind.
 *
 * @returns the objects, and from where to watch
 * @throws ClusterError; 410 where the token of a page expired
 */
export async function listAll<O extends ApiObject, T>(
  client: ApiClient,
  source: Source<O, T>,
  { onPage, onUnread, ...request }: ListOptions = {},
): Promise<{ store: Store<T>; resourceVersion: string }> {
  const { path, query } = source;
  const store = new Store<T>(source.retention);
  const noList = (): Error =>
    unreachable(operationText('GET', path), client.source, new Error('the answer is not a list of objects'));
  const onItem = (item: BoundedText): void => {
    const found = pickEntry(item, source);
    if (found === undefined) throw noList();
    if ('why' in found) onUnread?.(found);
    else store.put(found);
  };
  let token: string | undefined;
  for (;;) {
    const options = {
      ...request,
      query: { ...query, limit: source.pageSize ?? defaultPageSize, continue: token },
      maxBytes: pageBytes,
      objectBytes: source.objectBytes ?? objectBytes.default,
    };
    const { metadata, items } = (await client.list<Page>(path, options, onItem)).list;
    const resourceVersion = metadata?.resourceVersion;
    if (!Array.isArray(items) || items.length > 0 || !resourceVersion) throw noList();
    onPage?.();
    token = metadata?.continue || undefined;
    if (token === undefined) return { store, resourceVersion };
  }
}
