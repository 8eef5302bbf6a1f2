import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { statusCommand } from '../../../webhook/commands/status.ts';
import { cniGate, errorOf } from '../../support/command.ts';

/** A kubeconfig for a port of this machine on which nobody listens. */
async function nobodyThere(t: TestContext): Promise<{ kubeconfig: string; folder: string }> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const kubeconfig = join(folder, 'kubeconfig');
  const cluster = { name: 'c', cluster: { server: `https://127.0.0.1:${port}` } };
  const context = { name: 'c', context: { cluster: 'c', user: 'u' } };
  const config = {
    clusters: [cluster],
    contexts: [context],
    users: [{ name: 'u', user: {} }],
    'current-context': 'c',
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  return { kubeconfig, folder };
}

test('status rejects input that it cannot use, with a code', async (t) => {
  const { kubeconfig, folder } = await nobodyThere(t);
  const config = join(folder, 'config.yaml');
  writeFileSync(config, 'kind: Nonsense\n');
  const cases: [string[], RegExp][] = [
    [
      [],
      /no cluster to ask: .*Give --kubeconfig\. Without a cluster, serve needs .*\(CNI_GATE_CLUSTER_CONFIG\)$/,
    ],
    [['--kubeconfig', '/nowhere'], /cannot use kubeconfig \/nowhere: ENOENT.*\(CNI_GATE_CLUSTER_CONFIG\)$/],
    [['--config', '/nowhere'], /cannot read \/nowhere: ENOENT \(CNI_GATE_CONFIG_UNREADABLE\)$/],
    [['--config', config], /\(CNI_GATE_CONFIG_INVALID\)$/],
    [['--probe', '--watch'], /--probe asks once, .* \(CNI_GATE_USAGE\)$/],
    [['-n', ''], /'' is invalid\. expected the name of a namespace\. \(CNI_GATE_USAGE\)/],
    [['--output', 'yaml'], /'yaml' is invalid\. Allowed choices are text, wide, json\. \(CNI_GATE_USAGE\)/],
    [
      ['--kubeconfig', kubeconfig],
      /cannot get configmaps cni-gate in namespace cni-gate: no answer of the API server at https:.*ECONNREFUSED.*\(CNI_GATE_CLUSTER_UNREACHABLE\)$/,
    ],
  ];
  for (const [args, text] of cases) assert.match(await errorOf(t, statusCommand(), args), text);
});

test('status with unusable input writes the error to stderr alone, without a stack, and exits with 2', () => {
  const { status, stdout, stderr } = cniGate(['status', '--config', '/nowhere']);
  assert.deepEqual([status, stdout], [2, '']);
  assert.equal(stderr, 'cni-gate: cannot read /nowhere: ENOENT (CNI_GATE_CONFIG_UNREADABLE)\n');
});

test('the help lists the exit codes', () => {
  const { status, stdout } = cniGate(['status', '--help']);
  assert.equal(status, 0);
  assert.match(
    // wrapped at the width of a terminal
    stdout.replaceAll(/\s+/g, ' '),
    /Exit code: 0 all is well; 1 .*2 .*no such namespace.*3 cni-gate is not installed/,
  );
});
