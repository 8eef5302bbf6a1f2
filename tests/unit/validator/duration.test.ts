import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseDuration } from '../../../validator/shared/duration.ts';

test('durations in milliseconds', () => {
  assert.equal(parseDuration('500ms'), 500);
  assert.equal(parseDuration('10s'), 10_000);
  assert.equal(parseDuration('2m'), 120_000);
  assert.equal(parseDuration('1h'), 3_600_000);
  assert.equal(parseDuration('0s'), 0);
});

test('invalid durations', () => {
  for (const text of [
    '',
    '10',
    's',
    '1.5s',
    '-1s',
    '1d',
    '1m30s',
    ' 1s',
    '1s ',
    '1234567890s',
    '1toString',
  ]) {
    assert.equal(parseDuration(text), undefined, text);
  }
});
