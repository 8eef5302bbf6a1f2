import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { EventLoopBudget } from '../../../webhook/server/event-loop-budget.ts';

/** Starts work of some callers. @returns which have begun */
function begin(budget: EventLoopBudget, names: string[], work: () => void = () => {}): string[] {
  const begun: string[] = [];
  const one = async (name: string): Promise<void> => {
    await budget.turn(name === 'known');
    begun.push(name);
    work();
  };
  for (const name of names) void one(name);
  return begun;
}

test('some begin in one turn of the event loop, a known caller before others, the rest in the next turns', async () => {
  const begun = begin(new EventLoopBudget(2), ['a', 'b', 'c', 'd', 'known']);
  await Promise.resolve();
  assert.deepEqual(begun, ['a', 'b']);
  await nextTurn();
  assert.deepEqual(begun, ['a', 'b', 'known', 'c']);
  await nextTurn();
  assert.deepEqual(begun.slice(4), ['d']);
});

test('fewer begin in a turn if their work takes long', async (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const budget = new EventLoopBudget();
  const work = () => {
    now += 10;
  };
  assert.deepEqual([budget.turn(), now], [undefined, 0]);
  work();
  const begun = begin(budget, ['b', 'c'], work);
  await nextTurn();
  assert.deepEqual(begun, ['b']);
});
