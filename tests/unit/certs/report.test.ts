import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { reporter } from '../../../certs/report.ts';
import { newAuthority } from '../../../certs/rotation.ts';
import { CniGateError } from '../../../webhook/lib/errors.ts';

test('a lasting fault is logged once, and so is its end', () => {
  const lines: string[] = [];
  const add = (_facts: object, text: string): void => void lines.push(text);
  const report = reporter({ info: add, warn: add, error: add }, new Registry());
  const busy = new CniGateError('CNI_GATE_CLUSTER_BUSY', 'no answer');
  for (let count = 0; count < 2; count++) report.failed('secret', busy);
  assert.equal(report.trouble(), 'no answer');
  for (let count = 0; count < 2; count++) report.agreed({ authority: newAuthority(1, new Date()) });
  assert.equal(report.trouble(), undefined);
  assert.deepEqual(lines, [
    'no answer (CNI_GATE_CLUSTER_BUSY); it is tried again',
    'certificates: all is well again with the secret',
  ]);
});
