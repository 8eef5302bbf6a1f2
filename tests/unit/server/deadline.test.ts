import assert from 'node:assert/strict';
import { test } from 'node:test';
import { timeToAnswer } from '../../../webhook/server/admission.ts';

test('timeToAnswer ends before the API server stops waiting', () => {
  assert.equal(timeToAnswer('10s'), 9750);
  assert.equal(timeToAnswer('1s'), 750);
  assert.equal(timeToAnswer('100ms'), 50);
  assert.equal(timeToAnswer('5m'), 29_750, 'no call lasts longer than 30 s');
  assert.equal(timeToAnswer(undefined), 9750, "the API server's own default");
  assert.equal(timeToAnswer('soon'), 9750);
});
