import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { sharedFor } from '../../../webhook/server/ops.ts';

test('callers get the same value while it is made and shortly after', async () => {
  let made = 0;
  const ask = sharedFor(200, async () => {
    made++;
    await sleep(20);
    return made;
  });
  assert.deepEqual(await Promise.all(Array.from({ length: 100 }, ask)), Array(100).fill(1));
  assert.equal(await ask(), 1);
  await sleep(250);
  assert.equal(await ask(), 2);
});

test('a failure reaches its caller and is not shared later', async () => {
  let tries = 0;
  const ask = sharedFor(60_000, async () => {
    if (++tries === 1) throw new Error('once');
    return 'made';
  });
  await assert.rejects(ask(), /once/);
  assert.equal(await ask(), 'made');
});
