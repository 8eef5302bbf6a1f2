import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Group } from '../../../webhook/steer/group.ts';
import { defaultTimes } from '../../../webhook/steer/times.ts';
import { now } from './support.ts';

test('of wishes that only the scheduler can judge one is tried, twice as many after each that worked, 64 at most', () => {
  const group = new Group();
  const widths = Array.from({ length: 8 }, () => {
    const width = group.width(true);
    group.worked();
    return width;
  });
  assert.deepEqual(widths, [1, 2, 4, 8, 16, 32, 64, 64]);
  assert.equal(group.width(false), Number.POSITIVE_INFINITY);
});

test('after one that was ignored it begins with one again', () => {
  const group = new Group();
  group.worked();
  group.worked();
  group.failed(now, defaultTimes);
  assert.deepEqual([group.width(true), group.notBefore], [1, now + 10_000]);
});
