import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';

/**
 * Waits until `read` returns the expected value.
 * @throws AssertionError with the difference, if the values still differ after a minute
 */
export async function eventually<T>(read: () => T | Promise<T>, expected: T): Promise<void> {
  const end = performance.now() + 60_000;
  for (;;) {
    const actual = await read();
    if (isDeepStrictEqual(actual, expected)) return;
    if (performance.now() >= end) assert.deepEqual(actual, expected);
    await sleep(10);
  }
}
