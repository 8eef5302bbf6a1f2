import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defaultTimes, Group } from '../../../webhook/steer/back-off.ts';
import { now } from './support.ts';

test('a group may have one open nomination, twice as many after each success, and 64 at most', () => {
  const group = new Group(defaultTimes);
  const widths = Array.from({ length: 8 }, () => {
    const { window } = group;
    group.worked();
    return window;
  });
  assert.deepEqual(widths, [1, 2, 4, 8, 16, 32, 64, 64]);
});

test('after an ignored nomination the group pauses and begins with one again', () => {
  const group = new Group(defaultTimes);
  group.worked();
  group.worked();
  group.failed(now);
  assert.deepEqual([group.window, group.backOff.notBefore], [1, now + 10_000]);
});
