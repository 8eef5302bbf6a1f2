import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Semaphore } from '../../../webhook/lib/semaphore.ts';

test('a place is given to who goes first, then to who waited longest', async () => {
  const semaphore = new Semaphore(2);
  const taken: string[] = [];
  const take = async (name: string): Promise<void> => {
    if (await semaphore.take(10_000, name.startsWith('first'))) taken.push(name);
  };
  const callers = ['a', 'b', 'c', 'd', 'first 1', 'first 2'].map(take);
  await Promise.all(callers.slice(0, 2));
  assert.deepEqual(taken, ['a', 'b']);
  for (const _ of callers) semaphore.give();
  await Promise.all(callers);
  assert.deepEqual(taken.slice(2), ['first 1', 'first 2', 'c', 'd']);
  assert.deepEqual(await Promise.all([semaphore.take(0), semaphore.take(0)]), [true, true]);
});

test('who waits too long gets no place', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const semaphore = new Semaphore(1);
  await semaphore.take(0);
  const late = semaphore.take(2000);
  t.mock.timers.tick(2000);
  assert.equal(await late, false);
  semaphore.give();
  assert.equal(await semaphore.take(0), true, 'the place is not lost to it');
});
