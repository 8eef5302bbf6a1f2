import assert from 'node:assert/strict';
import { test } from 'node:test';
import { periodFrom } from '../../../certs/period.ts';
import { refusal } from './fixtures.ts';

const now = new Date('2030-01-01T12:00:00.900Z');

test('a period begins five minutes ago and ends the asked days from now, in whole seconds', () => {
  assert.deepEqual(periodFrom(now, 90), {
    notBefore: new Date('2030-01-01T11:55:00Z'),
    notAfter: new Date('2030-04-01T12:00:00Z'),
  });
  assert.deepEqual(periodFrom(now, 0.5).notAfter, new Date('2030-01-02T00:00:00Z'));
});

test('a period is cut at both ends to fit within that of the authority', () => {
  const within = { notBefore: new Date('2030-01-01T11:59:00Z'), notAfter: new Date('2030-02-01T00:00:00Z') };
  assert.deepEqual(periodFrom(now, 90, within), within);
  assert.deepEqual(periodFrom(now, 1, within).notAfter, new Date('2030-01-02T12:00:00Z'));
});

for (const days of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 3_000_000, 1e-9]) {
  test(`${days} days are refused`, () => {
    assert.throws(() => periodFrom(now, days), refusal('CNI_GATE_USAGE', new RegExp(`${days} days`)));
  });
}
