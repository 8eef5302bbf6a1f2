import { objectBytes, pages as pageLimits, unfinishedLists } from '../../lib/limits.ts';
import type { ApiClient } from '../client.ts';
import { ClusterError, unreachable } from '../errors.ts';
import { operationOf } from '../operation.ts';
import type { BoundedText } from '../stream/bounded-text.ts';
import { LargeAnswers } from '../stream/large-answers.ts';
import { Kept } from './kept.ts';
import { type ApiObject, type Entry, isApiObject } from './object.ts';
import { pickEntry, type Source, type Unread, unparsed } from './source.ts';

/** A complete list. */
export interface Listed<T> {
  entries: Kept<T>;
  /** From where to watch. */
  resourceVersion: string;
}

interface Page {
  metadata?: { resourceVersion?: string; continue?: string } | null;
  items?: unknown[] | null;
}

const defaultPageSize = 500;

/** Bytes of the lists that have not ended yet, of all reflectors. */
let unfinished = 0;

/** Large pages, of all reflectors. */
const largePages = new LargeAnswers(pageLimits.beginning, pageLimits.largeAtATime);

/**
 * Lists everything, page by page. The request names no version, so the answer is up to date and not from a cache that
 * is behind. If a page token expires, everything is listed once more: in one piece, unless the source limits its pages.
 *
 * @param timeout milliseconds without a byte
 * @param onPage called when a page has come
 * @param onUnread called for each object that exists and is not read; there is no limit to their number
 * @param large whose turns its large pages take
 * @param most bytes that all lists which have not ended may take: beyond it, this one fails
 */
export async function listAll<O extends ApiObject, T>(
  client: ApiClient,
  source: Source<O, T>,
  options: {
    timeout: number;
    signal: AbortSignal;
    onPage: () => void;
    onUnread?: (unread: Unread) => void;
    most?: number;
    large?: LargeAnswers;
  },
): Promise<Listed<T>> {
  try {
    return await pages(client, source, source.pageSize ?? defaultPageSize, options);
  } catch (error) {
    if (!(error instanceof ClusterError && error.status === 410)) throw error;
    return await pages(client, source, source.pageSize, options);
  }
}

/** Estimated memory of what is kept of an object for which the source has no estimate, in bytes. */
// a source can keep nothing of an object: undefined has no text
const weightOf = (object: unknown): number => 512 + 2 * (JSON.stringify(object)?.length ?? 0);

async function pages<O extends ApiObject, T>(
  client: ApiClient,
  source: Source<O, T>,
  limit: number | undefined,
  {
    timeout,
    signal,
    onPage,
    onUnread,
    most = unfinishedLists,
    large = largePages,
  }: Parameters<typeof listAll>[2],
): Promise<Listed<T>> {
  const { path, query, keeping } = source;
  const entries = new Kept<T>(keeping);
  const fault = (what: string): Error =>
    unreachable(operationOf('GET', path), client.source, new Error(what));
  const read = (item: BoundedText): Entry<T> | Unread => {
    const isTooLarge = item.isTooLarge();
    const found = unparsed(source, isTooLarge, () => item.head);
    if (found !== undefined) return found;
    if (isTooLarge) throw fault(`an item of ${item.bytes} bytes that does not begin with its name`);
    const object: unknown = JSON.parse(item.text);
    if (!isApiObject(object)) throw fault('the answer is not a list of objects');
    return pickEntry(object as O, source);
  };
  let mine = 0;
  const take = (bytes: number): void => {
    unfinished += bytes;
    mine += bytes;
  };
  const onItem = (item: BoundedText): void => {
    const found = read(item);
    if ('why' in found) {
      onUnread?.(found);
      return;
    }
    entries.put(found);
    take(keeping === undefined ? weightOf(found.object) : entries.bytes - mine);
    if (unfinished > most) {
      throw fault(`the lists that have not ended yet take more than ${Math.floor(most / 1024)} KiB`);
    }
  };
  let token: string | undefined;
  try {
    for (;;) {
      const options = {
        query: { ...query, limit, continue: token },
        timeout,
        signal,
        large,
        maxBytes: pageLimits.bytes,
        objectBytes: source.objectBytes ?? objectBytes.default,
      };
      const { metadata, items } = (await client.list<Page>(path, options, onItem)).list;
      const resourceVersion = metadata?.resourceVersion;
      if (!Array.isArray(items) || items.length > 0 || !resourceVersion) {
        throw fault('the answer is not a list of objects');
      }
      onPage();
      token = metadata?.continue || undefined;
      if (token === undefined) return { entries, resourceVersion };
    }
  } finally {
    take(-mine);
  }
}
