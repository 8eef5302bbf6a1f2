import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { reporter } from '../../../certs/report.ts';
import { newAuthority } from '../../../certs/rotation.ts';
import { CniGateError } from '../../../webhook/lib/errors.ts';

test('a lasting fault is logged once, and so is its end; the clock is measured', async () => {
  const lines: string[] = [];
  const add = (_facts: object, text: string): void => void lines.push(text);
  const registry = new Registry();
  const report = reporter({ info: add, warn: add, error: add }, registry, { clockSkew: -31_000 });
  const busy = new CniGateError('CNI_GATE_CLUSTER_BUSY', 'no answer');
  for (let count = 0; count < 2; count++) report.failed('secret', busy);
  assert.equal(report.trouble(), 'no answer');
  for (let count = 0; count < 2; count++) report.agreed({ authority: newAuthority(1, new Date()) });
  assert.equal(report.trouble(), undefined);
  assert.deepEqual(lines, [
    'no answer (CNI_GATE_CLUSTER_BUSY); it is tried again',
    'certificates: all is well again with the secret',
  ]);
  const metric = await registry.getSingleMetric('cni_gate_api_server_clock_skew_seconds')?.get();
  assert.equal(metric?.values[0]?.value, -31);
});
