import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Decision } from '../../../webhook/admission/mutate/decide.ts';
import { Metrics } from '../../../webhook/server/metrics.ts';

test('a patch that does not apply is counted, besides the refusal', async () => {
  const metrics = new Metrics();
  const decision: Decision = {
    outcome: 'refused',
    reason: 'CNI_GATE_PATCH_FAILED',
    profile: 'cilium',
    profiles: [],
    operations: [],
    warnings: [],
    message: 'x',
  };
  metrics.answered('mutate', decision, 0.001);
  metrics.answered('mutate', { ...decision, reason: 'CNI_GATE_NAME_TAKEN' }, 0.001);
  const text = await metrics.registry.metrics();
  assert.match(text, /^cni_gate_patch_failures_total 1$/m);
  assert.match(text, /profile="cilium",outcome="refused",reason="CNI_GATE_PATCH_FAILED"\} 1$/m);
});
