import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, statSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkPair, verifyChain } from '../../../certs/verify.ts';
import { cniGate } from '../../support/command.ts';

test('an authority and a certificate are issued into files, and the authority is used again', (t) => {
  const parent = mkdtempSync(join(tmpdir(), 'cni-gate-'));
  t.after(() => rmSync(parent, { recursive: true }));
  const folder = join(parent, 'pki');
  const run = (...more: string[]) => cniGate(['certs', 'issue', '--out', folder, ...more]);
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  const { status, stdout } = run('--tls-days', '3');
  assert.equal(status, 0);
  assert.equal(stdout.split('\n').length, 5);
  const authority = read('ca.crt');
  const { names, notAfter, notBefore } = checkPair(read('tls.crt'), read('tls.key'), new Date());
  assert.deepEqual(names.slice(0, 2), ['cni-gate.cni-gate.svc', 'cni-gate.cni-gate.svc.cluster.local']);
  assert.equal(Math.round((notAfter.getTime() - notBefore.getTime()) / 86_400_000), 3);
  const fault = (host: string): string | undefined =>
    verifyChain(read('tls.crt'), authority, host, new Date());
  assert.equal(fault('cni-gate.cni-gate.svc'), undefined);
  for (const key of ['ca.key', 'tls.key']) assert.equal(statSync(join(folder, key)).mode & 0o777, 0o600);

  const before = read('tls.crt');
  assert.equal(run('--tls-names', 'localhost').status, 0);
  assert.equal(read('ca.crt'), authority);
  assert.notEqual(read('tls.crt'), before);
  assert.equal(fault('localhost'), undefined);

  unlinkSync(join(folder, 'ca.key'));
  const { status: half, stderr } = run();
  assert.equal(half, 2, 'half an authority is not replaced');
  assert.match(stderr, /no such file or directory, open '.*ca\.key' \(CNI_GATE_TLS_UNREADABLE\)/);
});
