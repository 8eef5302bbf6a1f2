import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Budget } from '../../../webhook/server/budget.ts';

const never = (): AbortSignal => new AbortController().signal;

test('large requests leave a quarter to small ones', () => {
  const budget = new Budget(100, 10);
  assert.equal(budget.largest, 75);
  assert.equal(budget.tryTake(40), true);
  assert.equal(budget.tryTake(40), false);
  assert.equal(budget.tryTake(35), true);
  assert.equal(budget.tryTake(10), true);
  assert.equal(budget.tryTake(10), true);
  assert.equal(budget.tryTake(10), false);
  assert.equal(budget.used, 95);
});

test('who waits gets room in the order of coming, and small ones do not wait behind large ones', async () => {
  const budget = new Budget(100, 10);
  assert.equal(budget.tryTake(75), true);
  const order: string[] = [];
  const wait = (name: string, bytes: number) =>
    budget.take(bytes, never()).then((capacity) => order.push(`${name} ${capacity}`));
  const waits = [wait('first', 40), wait('second', 30)];
  assert.equal(budget.tryTake(5), true, 'a small one passes by large ones');
  assert.equal(budget.tryTake(11), false, 'a large one does not');
  budget.give(75);
  await Promise.all(waits);
  assert.deepEqual(order, ['first true', 'second true']);
  assert.equal(budget.used, 75);
});

test('who gives up leaves the line, and takes nothing', async () => {
  const budget = new Budget(100, 10);
  assert.equal(budget.tryTake(75), true);
  const late = new AbortController();
  const capacity = budget.take(50, late.signal);
  assert.equal(budget.waiting, 1);
  late.abort();
  assert.equal(await capacity, false);
  assert.equal(budget.waiting, 0);
  budget.give(75);
  assert.equal(budget.used, 0);
});

test('who gives up makes way for those behind it', async () => {
  const budget = new Budget(100, 10);
  assert.equal(budget.tryTake(40), true);
  const late = new AbortController();
  const large = budget.take(60, late.signal);
  const next = budget.take(30, never());
  assert.equal(budget.waiting, 2, 'nobody overtakes');
  late.abort();
  assert.equal(await large, false);
  assert.equal(await next, true);
  assert.equal(budget.used, 70);
});
