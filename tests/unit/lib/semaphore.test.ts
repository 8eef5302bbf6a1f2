import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Semaphore } from '../../../webhook/lib/semaphore.ts';

test('a caller that waits too long gets no place, and the place is not lost', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const semaphore = new Semaphore(1);
  await semaphore.take(0);
  const late = semaphore.take(2000);
  t.mock.timers.tick(2000);
  assert.equal(await late, false);
  semaphore.give();
  assert.equal(await semaphore.take(0), true);
});
