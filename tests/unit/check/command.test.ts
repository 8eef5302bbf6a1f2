import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkCommand } from '../../../webhook/commands/check.ts';
import { cniGate, errorOf } from '../../support/command.ts';

const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
process.once('exit', () => rmSync(folder, { recursive: true }));

/** A kubeconfig for a port of this machine on which nobody listens. */
async function nobodyThere(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const file = join(folder, 'kubeconfig');
  const config = {
    clusters: [{ name: 'c', cluster: { server: `https://127.0.0.1:${port}` } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    users: [{ name: 'u', user: {} }],
    'current-context': 'c',
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

test('check rejects input that it cannot use, with a code', async (t) => {
  const cases: [string[], RegExp][] = [
    [[], /no cluster to ask: .*\(CNI_GATE_CLUSTER_CONFIG\)$/],
    [['--wait', 'soon'], /'soon' is invalid\. expected a duration .* \(CNI_GATE_USAGE\)/],
    [['--output', 'yaml'], /Allowed choices are text, json, short\. \(CNI_GATE_USAGE\)/],
    [['--config', '/nowhere'], /cannot read \/nowhere: ENOENT \(CNI_GATE_CONFIG_UNREADABLE\)$/],
  ];
  for (const [args, text] of cases) assert.match(await errorOf(t, checkCommand(), args), text);
});

test('an API server that is gone: one error with the address, exit code 2, and nothing on standard output', async () => {
  const kubeconfig = await nobodyThere();
  for (const args of [[], ['--pre'], ['--output', 'json']]) {
    const { status, stdout, stderr } = cniGate(['check', '--kubeconfig', kubeconfig, ...args]);
    assert.deepEqual([status, stdout], [2, '']);
    assert.match(
      stderr,
      /^cni-gate: cannot get .*: no answer of the API server at https:\S+ .*ECONNREFUSED.*\(CNI_GATE_CLUSTER_UNREACHABLE\)\n$/,
    );
  }
});

test('--wait says once what it waits for, and gives up', async () => {
  const kubeconfig = await nobodyThere();
  const { status, stderr } = cniGate(['check', '--kubeconfig', kubeconfig, '--wait', '100ms']);
  assert.equal(status, 2);
  const [waiting, given, ...others] = stderr.trimEnd().split('\n');
  assert.match(waiting ?? '', /^cni-gate: waiting: .*\(CNI_GATE_CLUSTER_UNREACHABLE\)$/);
  assert.match(given ?? '', /^cni-gate: cannot get .*\(CNI_GATE_CLUSTER_UNREACHABLE\)$/);
  assert.deepEqual(others, []);
});

test('the help lists the exit codes', () => {
  const { status, stdout } = cniGate(['check', '--help']);
  assert.equal(status, 0);
  assert.match(
    stdout.replaceAll(/\s+/g, ' '),
    /Exit code: 0 no check failed; 1 .*2 .*3 cni-gate is not installed/,
  );
});
