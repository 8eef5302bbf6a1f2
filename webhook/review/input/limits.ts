import { getHeapStatistics } from 'node:v8';

/**
 * The limits of `review`. Beyond a limit, it reports an error and exits with code 2; without limits, a large input
 * would exhaust the memory and abort the process. docs/guides/review.md lists them.
 */

const mebi = 2 ** 20;

/** The maximum number of characters of a document, or of an item of a List: over twice what an API server accepts. */
export const largestObject = 8 * mebi;

/** The maximum number of documents and objects in all inputs together: each uses about 10 KiB with its patch. */
export const mostObjects = 50_000;

/**
 * The maximum number of bytes of all inputs together. The kept data uses up to six times as much memory, so a small heap
 * lowers the limit.
 *
 * @param heap the maximum size of the heap in bytes
 */
export const mostInput = (heap = getHeapStatistics().heap_size_limit): number =>
  Math.min(256 * mebi, Math.floor(heap / 8));

/** Formats a number of bytes or characters. */
export const inMebi = (count: number): string => `${Math.ceil((count / mebi) * 10) / 10} MiB`;
