import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holdBegan } from '../../../../webhook/admission/gate/gate-pod.ts';
import type { DaemonSetStatus } from '../../../../webhook/nodes/readiness/state.ts';

const now = Date.parse('2026-11-21T12:00:00Z');
const began = (times: Pick<DaemonSetStatus, 'since' | 'observedAt'>): number =>
  holdBegan(now - 1000, { state: 'broken', reason: '', ...times }, now) - now;

test('a hold counts from the refusal, or from when the DaemonSet reached its state', () => {
  assert.equal(began({}), -1000);
  assert.equal(began({ since: now - 2000 }), -1000);
  assert.equal(began({ since: now - 500 }), -500);
  assert.equal(began({ observedAt: now - 500 }), -500);
  assert.equal(began({ since: now - 800, observedAt: now - 500 }), -800);
});

test('a time in the future is ignored', () => {
  assert.equal(began({ since: now + 1 }), -1000);
  assert.equal(began({ observedAt: now + 1 }), -1000);
  assert.equal(began({ since: now + 1, observedAt: now - 500 }), -500);
});
