import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Semaphore } from '../../../webhook/lib/semaphore.ts';

test('large requests leave a quarter free for small ones', async () => {
  const semaphore = new Semaphore(100, 10);
  assert.equal(await semaphore.take(76, 0), false);
  assert.equal(await semaphore.take(70, 0), true);
  assert.equal(await semaphore.take(11, 0), false);
  assert.deepEqual(
    [10, 10, 10, 10].map((amount) => semaphore.tryTake(amount)),
    [true, true, true, false],
  );
  assert.equal(semaphore.used, 100);
});

test('what is given back goes to the request that waited longest, as far as it fits', async () => {
  const semaphore = new Semaphore(10);
  await semaphore.take(10, 0);
  const granted: string[] = [];
  const timers = () => process.getActiveResourcesInfo().filter((resource) => resource === 'Timeout').length;
  const before = timers();
  const waiting = [
    semaphore.take(8, 10_000).then(() => granted.push('large')),
    semaphore.take(2, 10_000).then(() => granted.push('small')),
  ];
  semaphore.give(2);
  await waiting[1];
  assert.deepEqual([granted, semaphore.waiting], [['small'], 1]);
  semaphore.give(8);
  await waiting[0];
  assert.deepEqual([granted, semaphore.used, semaphore.waiting], [['small', 'large'], 10, 0]);
  assert.equal(timers(), before, 'no timer is left');
});

test('a request that goes first does not wait for those that waited longer', async () => {
  const semaphore = new Semaphore(10);
  await semaphore.take(10, 0);
  const granted: string[] = [];
  const waiting = ['longer', 'first'].map((name) =>
    semaphore.take(10, 10_000, ...(name === 'first' ? [true] : [])).then(() => granted.push(name)),
  );
  assert.deepEqual([semaphore.waiting, semaphore.waitingFirst], [2, 1]);
  for (const _ of waiting) semaphore.give(10);
  await Promise.all(waiting);
  assert.deepEqual(granted, ['first', 'longer']);
});

test('a request that waits for too long gets nothing, and takes nothing', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const semaphore = new Semaphore(10);
  await semaphore.take(10, 0);
  const late = semaphore.take(5, 2000);
  t.mock.timers.tick(2000);
  assert.equal(await late, false);
  semaphore.give(10);
  assert.deepEqual([semaphore.used, semaphore.waiting], [0, 0]);
});
