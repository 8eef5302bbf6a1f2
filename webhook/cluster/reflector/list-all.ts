import type { ApiClient } from '../client.ts';
import { ClusterError, unreachable } from '../errors.ts';
import { operationOf } from '../operation.ts';
import { type ApiObject, type Entry, entryOf, isApiObject } from './object.ts';

/** What is reflected: one kind of objects, all of them or those that a selector chooses. */
export interface Source<O extends ApiObject, T> {
  /** For messages and metrics: `namespaces`. */
  resource: string;
  /** Such as `/api/v1/namespaces`. */
  path: string;
  /** `labelSelector`, `fieldSelector`. */
  query?: Record<string, string>;
  /** So many objects a page (500 by default): fewer where anybody may make large ones, as a page is read as a whole. */
  pageSize?: number;
  /** Takes of an object what decisions need; the rest is forgotten. */
  pick: (object: O) => T;
}

export interface Listed<T> {
  entries: Entry<T>[];
  /** From where to watch. */
  resourceVersion: string;
}

interface Page {
  metadata?: { resourceVersion?: string; continue?: string } | null;
  items?: unknown[] | null;
}

const defaultPageSize = 500;

/**
 * Lists everything, page by page. No version is asked for, so the answer is up to date and not what a cache that is
 * behind has. A page token that expired on the way costs one list more: in one piece, but where pages are small for a
 * reason.
 *
 * @param timeout milliseconds without a byte
 * @param onPage called when a page has come
 */
export async function listAll<O extends ApiObject, T>(
  client: ApiClient,
  source: Source<O, T>,
  options: { timeout: number; signal: AbortSignal; onPage: () => void },
): Promise<Listed<T>> {
  try {
    return await pages(client, source, source.pageSize ?? defaultPageSize, options);
  } catch (error) {
    if (!(error instanceof ClusterError && error.status === 410)) throw error;
    return await pages(client, source, source.pageSize, options);
  }
}

async function pages<O extends ApiObject, T>(
  client: ApiClient,
  { path, query, pick }: Source<O, T>,
  limit: number | undefined,
  { timeout, signal, onPage }: Parameters<typeof listAll>[2],
): Promise<Listed<T>> {
  const entries: Entry<T>[] = [];
  let token: string | undefined;
  for (;;) {
    const page = await client.request<Page>('GET', path, {
      query: { ...query, limit, continue: token },
      timeout,
      signal,
    });
    const { items, metadata } = page;
    const resourceVersion = metadata?.resourceVersion;
    if (!Array.isArray(items) || !items.every(isApiObject) || !resourceVersion) {
      const what = new Error('the answer is not a list of objects');
      throw unreachable(operationOf('GET', path), client.source, what);
    }
    for (const object of items) entries.push(entryOf(object as O, pick));
    onPage();
    token = metadata?.continue || undefined;
    if (token === undefined) return { entries, resourceVersion };
  }
}
