import { getHeapStatistics } from 'node:v8';
import { CniGateError } from '../../lib/errors.ts';

/**
 * The limits of `review`. Beyond a limit, it reports an error and exits with code 2; without limits, a large input
 * would exhaust the memory and abort the process. docs/guides/review.md lists them.
 */

const mebi = 2 ** 20;

/**
 * The maximum number of characters of a document, or of one item of a List: more than twice what an API server accepts.
 */
export const largestObject = 8 * mebi;

/**
 * The maximum number of documents and objects in all inputs together. Each uses about 10 KiB with its patch, however
 * small it is.
 *
 * @param heap the maximum size of the heap in bytes
 */
export const mostObjects = (heap = getHeapStatistics().heap_size_limit): number =>
  Math.min(50_000, Math.floor(heap / (12 * 1024)));

/**
 * The maximum number of bytes of all inputs together. The kept data uses up to six times as much memory, and V8 aborts
 * the process if its heap is full, so a small heap lowers the limit.
 *
 * @param heap the maximum size of the heap in bytes
 */
export const mostInput = (heap = getHeapStatistics().heap_size_limit): number =>
  Math.min(mostInputEver, Math.floor(heap / 8));

const mostInputEver = 256 * mebi;

/** The text for too much input. */
export function tooMuchInput(max = mostInput()): string {
  const fewer = `review accepts ${inMebi(max)} of input in total: review fewer files at a time`;
  return max < mostInputEver
    ? `${fewer}, or give Node more memory with NODE_OPTIONS=--max-old-space-size`
    : fewer;
}

/** The error of an input beyond a limit. */
export const tooLarge = (message: string): CniGateError =>
  new CniGateError('CNI_GATE_INPUT_TOO_LARGE', message);

/** Formats a number of bytes or characters. */
export const inMebi = (count: number): string => `${Math.ceil((count / mebi) * 10) / 10} MiB`;
