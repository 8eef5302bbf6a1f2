import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Progress } from '../../webhook/review/progress.ts';

/** Tells progress every 40 ms for a second and clears. */
function written(isTTY: boolean | undefined, text = 'reviewing', columns?: number): string[] {
  const writes: string[] = [];
  let now = 0;
  const stream = { isTTY, columns, write: (one: string) => writes.push(one) };
  const progress = new Progress(stream, () => now);
  for (let step = 0; step < 25; step += 1, now += 40) progress.tell(() => `${text} ${step} of 25`);
  progress.clear();
  return writes;
}

test('a terminal: one line, updated at most ten times a second, erased at the end', () => {
  const writes = written(true);
  assert.deepEqual(writes.slice(0, 2), ['\rreviewing 0 of 25\u001b[K', '\rreviewing 3 of 25\u001b[K']);
  assert.equal(writes.length, 9 + 1);
  assert.equal(writes.at(-1), '\r\u001b[K');
  assert.ok(writes.every((one) => !one.includes('\n')));
});

test('a pipe or a file: no progress', () => {
  assert.deepEqual(written(false), []);
  assert.deepEqual(written(undefined), []);
});

test('the line fits the terminal and contains no control characters', () => {
  const [first = ''] = written(true, `\u001b[2J${'x'.repeat(100)}`, 40);
  assert.equal(first, `\r${'x'.repeat(39)}\u001b[K`);
});

test('without progress, nothing is erased', () => {
  const writes: string[] = [];
  new Progress({ isTTY: true, write: (one) => writes.push(one) }).clear();
  assert.deepEqual(writes, []);
});
