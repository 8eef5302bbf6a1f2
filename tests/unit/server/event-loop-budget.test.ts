import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { turn } from '../../../webhook/lib/limits.ts';
import { EventLoopBudget } from '../../../webhook/server/event-loop-budget.ts';

/** Starts work of that many callers. @returns who has begun */
function begin(budget: EventLoopBudget, names: string[], work: () => void = () => {}): string[] {
  const begun: string[] = [];
  for (const name of names) {
    void budget.turn(name === 'known').then(() => {
      begun.push(name);
      work();
    });
  }
  return begun;
}

const names = Array.from({ length: 3 * turn.count }, (_, index) => `${index}`);

test('a few begin in one turn of the event loop, in their order, and the others later', async (t) => {
  t.mock.method(performance, 'now', () => 0);
  const begun = begin(new EventLoopBudget(), names);
  await nextTurn();
  assert.deepEqual(begun, names.slice(0, turn.count));
  for (let turns = 0; turns < 3; turns++) await nextTurn();
  assert.deepEqual(begun, names);
});

test('fewer begin in a turn if their work takes long', async (t) => {
  let now = 0;
  t.mock.method(performance, 'now', () => now);
  const begun = begin(new EventLoopBudget(), names, () => {
    now += turn.time;
  });
  await nextTurn();
  assert.deepEqual(begun, names.slice(0, 1));
});

test('a known caller goes before all that wait', async () => {
  const begun = begin(new EventLoopBudget(), [...names, 'known']);
  await nextTurn();
  assert.equal(begun[0], 'known');
});
