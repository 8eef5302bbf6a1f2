import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reason } from '../../../validator/reasons.ts';
import { exitCodeFor, verdictOf } from '../../../validator/verdict.ts';
import { bad, good } from './fixtures.ts';

const table: [reasons: (Reason | undefined)[], verdict: string, code: number][] = [
  [[undefined], 'proved', 0],
  [[undefined, undefined], 'proved', 0],
  [['not-redirected'], 'failed', 95],
  [[undefined, 'not-redirected'], 'failed', 95],
  [['no-route'], 'unproved', 69],
  [[undefined, 'port-taken'], 'unproved', 69],
  [['no-route', 'gateway-silent'], 'failed', 95],
  [['gateway-silent', 'no-route'], 'failed', 95],
];

for (const [found, verdict, code] of table)
  test(`${found.map((reason) => reason ?? 'passed').join(' and ')}: ${verdict}, exit ${code}`, () => {
    assert.deepEqual(verdictOf(found.map((reason) => (reason ? bad(reason) : good))), { verdict, code });
  });

test('warn: exit 0 for any finding; the code of a signal stays', () => {
  assert.equal(exitCodeFor({ verdict: 'failed', code: 95 }, true), 0);
  assert.equal(exitCodeFor({ verdict: 'unproved', code: 69 }, true), 0);
  assert.equal(exitCodeFor({ verdict: 'wrong-usage', code: 64 }, true), 0);
  assert.equal(exitCodeFor({ verdict: 'stopped', code: 143 }, true), 143);
  assert.equal(exitCodeFor({ verdict: 'failed', code: 95 }, false), 95);
});
