import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { version } from '../../../webhook/lib/version.ts';
import { cniGate, startCniGate } from '../../support/command.ts';
import { json, startFakeApi, status } from '../../support/fake-api-server.ts';

const deployments = '/apis/apps/v1/namespaces/cni-gate/deployments/cni-gate';

/** What `version` prints with an API server that answers for the Deployment so. */
async function printed(t: TestContext, code: number, answer: object) {
  const { url } = await startFakeApi(t, ({ path }, response) =>
    path === deployments ? json(response, code, answer) : json(response, 404, {}),
  );
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const kubeconfig = join(folder, 'kubeconfig');
  const config = {
    clusters: [{ name: 'c', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
    contexts: [{ name: 'production', context: { cluster: 'c', user: 'u' } }],
    users: [{ name: 'u', user: {} }],
    'current-context': 'production',
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  const child = startCniGate(['version', '--kubeconfig', kubeconfig]);
  assert.ok(child.stdout && child.stderr);
  const [stdout, stderr, [exit]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { exit, stdout: stdout.replace(url, 'URL'), stderr };
}

const withImage = (image: string): object => ({
  metadata: {},
  spec: { template: { spec: { containers: [{ name: 'cni-gate', image }] } } },
});

test('version with a cluster: both versions, and which cluster', async (t) => {
  const { exit, stdout } = await printed(t, 200, withImage('mirror:5000/cni-gate:0.0.9'));
  assert.deepEqual([exit, stdout], [0, `Client: ${version}\nServer: 0.0.9 (URL, context production)\n`]);
});

test('version: an image without a tag, and a cluster without cni-gate', async (t) => {
  const digest = await printed(t, 200, withImage('mirror:5000/cni-gate@sha256:abc'));
  assert.match(digest.stdout, /^Server: not known: its image has no tag \(/m);
  const none = await printed(t, 404, status(404, 'NotFound', 'not found'));
  assert.deepEqual(
    [none.exit, none.stdout.split('\n')[1]],
    [0, 'Server: not installed (URL, context production)'],
  );
});

test('version without the right to see the Deployment: its own version, and an error that names the right', async (t) => {
  const said = 'deployments.apps "cni-gate" is forbidden: User "u" cannot get resource "deployments"';
  const { exit, stdout, stderr } = await printed(t, 403, status(403, 'Forbidden', said));
  assert.deepEqual([exit, stdout], [2, `Client: ${version}\n`]);
  assert.match(
    stderr,
    /RBAC lacks verb "get" on resource "deployments" of API group "apps" \(CNI_GATE_CLUSTER_FORBIDDEN\)/,
  );
});

test('version without a cluster, and with --client: its own version, exit code 0', () => {
  const env = { PATH: process.env.PATH, HOME: '/nonexistent' };
  const alone = cniGate(['version'], { env });
  assert.deepEqual([alone.status, alone.stderr], [0, '']);
  assert.equal(alone.stdout, `Client: ${version}\nServer: no cluster is configured\n`);
  const broken = { ...env, KUBECONFIG: '/nonexistent' };
  assert.deepEqual(cniGate(['version', '--client'], { env: broken }).stdout, `Client: ${version}\n`);
  assert.equal(cniGate(['version'], { env: broken }).status, 2);
});

test('the help has two examples and the address of the documentation', () => {
  const { stdout } = cniGate(['--help']);
  assert.equal(stdout.match(/^ {2}cni-gate /gm)?.length, 2);
  assert.match(stdout, /^Documentation:\s+https:\S+\/docs\/reference\/command-line\.md$/m);
  assert.doesNotMatch(stdout, /^ {2}(?:validate|completion)\b/m);
  assert.match(stdout, /^ {2}version\b/m);
});
