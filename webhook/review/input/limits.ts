import { getHeapStatistics } from 'node:v8';
import { CniGateError } from '../../lib/errors.ts';

/**
 * What `review` takes. Beyond a limit it says so and ends with exit code 2; without one, a large enough input would
 * make the process run out of memory and abort. docs/guides/review.md names them.
 */

const mebi = 2 ** 20;

/** How many levels maps and lists of one document may be nested in one another. */
export const deepest = 1000;

/** How many characters a document may have, or one item of a List: more than twice what an API server takes. */
export const largestObject = 8 * mebi;

/** How many characters a document with aliases may have once they are written out. */
export const mostByAliases = largestObject;

/**
 * How many documents and objects all inputs together may have. Each takes some 10 KiB with its patch, however small it
 * is itself.
 *
 * @param heap the most bytes that the heap may grow to
 */
export const mostObjects = (heap = getHeapStatistics().heap_size_limit): number =>
  Math.min(50_000, Math.floor(heap / (12 * 1024)));

/**
 * How many bytes all inputs together may have. What is kept of them takes up to six times as much memory, and V8
 * aborts the process where its heap is full, so a small heap makes it less.
 *
 * @param heap the most bytes that the heap may grow to
 */
export const mostInput = (heap = getHeapStatistics().heap_size_limit): number =>
  Math.min(mostInputEver, Math.floor(heap / 8));

const mostInputEver = 256 * mebi;

/** The text for more input than is taken. */
export function tooMuchInput(max = mostInput()): string {
  const fewer = `review takes ${inMebi(max)} of input altogether: review fewer files at a time`;
  return max < mostInputEver
    ? `${fewer}, or give Node more memory by NODE_OPTIONS=--max-old-space-size`
    : fewer;
}

/** The error of an input beyond a limit. */
export const tooLarge = (message: string): CniGateError =>
  new CniGateError('CNI_GATE_INPUT_TOO_LARGE', message);

/** A number of bytes or characters for people. */
export const inMebi = (count: number): string => `${Math.ceil((count / mebi) * 10) / 10} MiB`;
