import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { TokenBucket } from '../../../webhook/lib/token-bucket.ts';

test('after a rest a burst may pass, then so many a second', () => {
  const rate = new TokenBucket(10, 20);
  assert.equal(rate.left(0), 20);
  rate.take(20);
  assert.equal(rate.left(50), 0);
  assert.equal(rate.left(100), 1);
  assert.equal(rate.left(1000), 10);
  assert.equal(rate.left(99_000), 20);
});

test('never more in any stretch of time, however it is asked', () => {
  const steps = fc.array(fc.record({ wait: fc.nat(500), wanted: fc.nat(30) }), { maxLength: 60 });
  fc.assert(
    fc.property(steps, (all) => {
      const rate = new TokenBucket(10, 20);
      const passed: { at: number; count: number }[] = [];
      let at = 0;
      for (const { wait, wanted } of all) {
        at += wait;
        const count = Math.min(wanted, rate.left(at));
        rate.take(count);
        passed.push({ at, count });
        for (const from of passed) {
          const within = passed.filter((one) => one.at >= from.at).reduce((sum, one) => sum + one.count, 0);
          assert.ok(within <= 20 + ((at - from.at) / 1000) * 10 + 1e-6);
        }
      }
    }),
  );
});
