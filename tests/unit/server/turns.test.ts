import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Turns } from '../../../webhook/server/turns.ts';

test('no more work begins in a turn than it may have, and the rest follows in order', async () => {
  const turns = new Turns({ count: 3 });
  const done: number[] = [];
  for (let index = 0; index < 8; index++) turns.run(() => done.push(index));
  assert.deepEqual(done, [0, 1, 2]);
  await nextTurn();
  assert.deepEqual(done, [0, 1, 2, 3, 4, 5]);
  // who comes now waits behind the others
  turns.run(() => done.push(8));
  await nextTurn();
  await nextTurn();
  assert.deepEqual(done, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
  turns.run(() => done.push(9));
  assert.equal(done.at(-1), 9, 'at once, as nobody waits');
});

test('who has much work waits for others in between', async () => {
  const turns = new Turns({ count: 2 });
  const done: string[] = [];
  for (let index = 0; index < 6; index++) turns.run(() => done.push(`a${index}`), 'a');
  for (let index = 0; index < 2; index++) turns.run(() => done.push(`b${index}`), 'b');
  for (let turn = 0; turn < 3; turn++) await nextTurn();
  assert.deepEqual(done, ['a0', 'a1', 'a2', 'b0', 'a3', 'b1', 'a4', 'a5']);
});

test('a turn that has had its time begins no more work', async () => {
  const turns = new Turns({ time: 5 });
  const done: number[] = [];
  const busy = (index: number) => (): void => {
    const begun = performance.now();
    while (performance.now() - begun < 6);
    done.push(index);
  };
  for (let index = 0; index < 3; index++) turns.run(busy(index));
  assert.deepEqual(done, [0]);
  await nextTurn();
  assert.deepEqual(done, [0, 1]);
  await nextTurn();
  assert.deepEqual(done, [0, 1, 2]);
});

test('only so many pieces of work are under way, and the next begins when one has ended', async () => {
  const turns = new Turns({ count: 3, atATime: 4 });
  const done: number[] = [];
  for (let index = 0; index < 6; index++) turns.run(() => done.push(index));
  await nextTurn();
  await nextTurn();
  assert.deepEqual(done, [0, 1, 2, 3]);
  assert.equal(turns.waiting, true);
  turns.ended();
  await nextTurn();
  assert.deepEqual(done, [0, 1, 2, 3, 4]);
  turns.ended();
  await nextTurn();
  assert.equal(turns.waiting, false);
  for (let count = 0; count < 4; count++) turns.ended();
  turns.run(() => done.push(6));
  assert.equal(done.at(-1), 6);
});

test('work that is taken back does not begin, and takes nobody’s turn', async () => {
  const turns = new Turns({ count: 1 });
  const done: string[] = [];
  const unwanted = (): void => void done.push('b');
  turns.run(() => done.push('a'));
  turns.run(unwanted, 'b');
  turns.run(() => done.push('c'), 'c');
  assert.equal(turns.cancel(unwanted, 'b'), true);
  assert.equal(turns.cancel(unwanted, 'b'), false);
  await nextTurn();
  assert.deepEqual(done, ['a', 'c']);
});
