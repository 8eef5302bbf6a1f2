import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Turns } from '../../../webhook/server/turns.ts';

test('one caller begins in each turn of the event loop, a known one before others', async () => {
  const turns = new Turns();
  const begun: string[] = [];
  for (const name of ['a', 'b', 'known', 'c'])
    void turns.next(10_000, name === 'known').then(() => begun.push(name));
  for (const expected of [['a'], ['a', 'known'], ['a', 'known', 'b'], ['a', 'known', 'b', 'c']]) {
    await Promise.resolve().then(() => {});
    assert.deepEqual(begun, expected);
    await nextTurn();
  }
});
