import type { ApiClient } from '../client.ts';
import { operationText, unreachable } from '../errors.ts';
import { type ApiObject, entryOf, type Source, type Unread, unreadOf } from './object.ts';
import { Store } from './store.ts';

interface Page {
  metadata?: { resourceVersion?: string; continue?: string } | null;
  items?: unknown[] | null;
}

interface ListOptions {
  timeout?: number;
  signal?: AbortSignal;
  onPage?: () => void;
  /** Called for each object that exists but is not kept, for instance because it is too large. */
  onUnread?: (unread: Unread) => void;
}

/** Objects per page. The API server keeps a whole page in memory, and any user may create objects of 1.5 MB. */
const limit = 100;

/**
 * Lists all objects in pages. The list is up to date, because the request names no resourceVersion.
 * @returns the objects, and the version from which to watch
 * @throws ClusterError; its status is 410 if the continue token of a page has expired
 */
export async function listAll<O extends ApiObject, T>(
  client: ApiClient,
  source: Source<O, T>,
  { onPage, onUnread, ...request }: ListOptions = {},
): Promise<{ store: Store<T>; resourceVersion: string }> {
  const { path, query, maxObject } = source;
  const store = new Store<T>(source.retention);
  const noList = (): Error =>
    unreachable(operationText('GET', path), client.source, new Error('the answer is not a list of objects'));
  let token: string | undefined;
  for (;;) {
    const page = await client.stream(path, {
      ...{ ...request, maxObject },
      layout: 'list',
      query: { ...query, limit, continue: token },
    });
    for await (const { text, isCut } of page) {
      const entry = isCut ? unreadOf(text) : entryOf(parsed(text), source);
      if (entry === undefined) throw noList();
      if ('why' in entry) onUnread?.(entry);
      else store.put(entry);
    }
    const { metadata, items } = (page.rest() ?? {}) as Page;
    const resourceVersion = metadata?.resourceVersion;
    if (!Array.isArray(items) || !resourceVersion) throw noList();
    onPage?.();
    token = metadata?.continue || undefined;
    if (token === undefined) return { store, resourceVersion };
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
