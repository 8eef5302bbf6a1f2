import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import { Semaphore } from '../../../webhook/lib/semaphore.ts';
import { nextTurn } from '../../../webhook/server/turns.ts';

test('two callers begin in each turn of the event loop, a known one before others', async () => {
  const turns = new Semaphore(2);
  const begun: string[] = [];
  for (const name of ['a', 'b', 'c', 'd', 'known'])
    void nextTurn(turns, 10_000, name === 'known').then(() => begun.push(name));
  for (const expected of [
    ['a', 'b'],
    ['a', 'b', 'known', 'c'],
    ['a', 'b', 'known', 'c', 'd'],
  ]) {
    await Promise.resolve().then(() => {});
    assert.deepEqual(begun, expected);
    await endOfTurn();
  }
});
