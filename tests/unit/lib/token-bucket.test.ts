import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TokenBucket } from '../../../webhook/lib/token-bucket.ts';

test('after a pause a burst may pass, then a fixed rate', () => {
  const rate = new TokenBucket(10, 20);
  assert.equal(rate.left(0), 20);
  rate.take(20);
  assert.equal(rate.left(50), 0);
  assert.equal(rate.left(100), 1);
  assert.equal(rate.left(1000), 10);
  assert.equal(rate.left(99_000), 20);
});
