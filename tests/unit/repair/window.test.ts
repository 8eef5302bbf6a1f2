import assert from 'node:assert/strict';
import { test } from 'node:test';
import { First } from '../../../webhook/repair/first.ts';
import { ordinalOf } from '../../../webhook/repair/owners.ts';
import { Window } from '../../../webhook/repair/window.ts';

test('a window of 60: an entry counts for 60, and says when fewer will count', () => {
  const window = new Window(60);
  for (const time of [0, 10, 50]) window.add(time);
  assert.deepEqual([window.count(50), window.count(59), window.count(60), window.count(69)], [3, 3, 2, 2]);
  assert.equal(window.count(70), 1);
});

test('a window says when fewer than a maximum are left', () => {
  const window = new Window(60);
  for (const time of [0, 10, 50]) window.add(time);
  const opensAt = (max: number): number => window.opensAt(max, 55);
  assert.deepEqual([opensAt(4), opensAt(3), opensAt(2), opensAt(1)], [55, 60, 70, 110]);
  assert.equal(opensAt(0), Number.POSITIVE_INFINITY);
});

test('the first of many, in order', () => {
  const first = new First<number>(3, (one, other) => one - other);
  for (const item of [5, 9, 1, 8, 7, 2, 6, 3]) first.add(item);
  assert.deepEqual(first.sorted(), [1, 2, 3]);
});

test('the ordinal of a pod of a StatefulSet', () => {
  assert.deepEqual(
    ['db-0', 'db-12', 'my-db-2-3', 'db', 'db-x'].map((name) => ordinalOf({ name })),
    [0, 12, 3, 0, 0],
  );
});
