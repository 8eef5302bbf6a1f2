import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const demo = fileURLToPath(new URL('../../demo/demo.ts', import.meta.url));

test('demo: one pod with its proof, then a refusal, then the admission, in less than 30 lines', () => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [demo], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.deepEqual(stdout.match(/^[+] .*(?=:| #)/gm), [
    '+     cni-gate.io/profile',
    '+   - name: cni-gate-validator',
  ]);
  assert.match(
    stdout,
    /allowed: false\n.*CNI_GATE_NODE_NOT_READY [^)]+\)\n\n.*\n {2}allowed: true, reason: ready\n$/,
  );
  // npm prints four lines before
  assert.ok(stdout.split('\n').length <= 30 - 4, stdout);
});
