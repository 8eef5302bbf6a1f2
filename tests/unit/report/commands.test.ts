import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { stripVTControlCharacters } from 'node:util';
import type { Command } from 'commander';
import { type Authority, createAuthority, issueServing } from '../../../certs/issue.ts';
import { checkCommand } from '../../../webhook/commands/check.ts';
import { dashboardCommand } from '../../../webhook/commands/dashboard.ts';
import { statusCommand } from '../../../webhook/commands/status.ts';
import type { Dashboard } from '../../../webhook/report/dashboard/data.ts';
import { cniGate, errorOf, startCniGate } from '../../support/command.ts';
import { eventually } from '../../support/eventually.ts';
import { type Asked, json, startFakeApi, status } from '../../support/fake-api-server.ts';
import { apiNode } from '../core/networks/objects.ts';

const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
process.once('exit', () => rmSync(folder, { recursive: true }));

/** A kubeconfig file with one context. */
function writeKubeconfig(cluster: object, user: object = {}): string {
  const file = join(mkdtempSync(join(folder, 'k')), 'kubeconfig');
  const config = {
    clusters: [{ name: 'c', cluster }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    users: [{ name: 'u', user }],
    'current-context': 'c',
  };
  writeFileSync(file, JSON.stringify(config));
  return file;
}

/** The answers of a cluster with a node, a Service, and an opted-in namespace whose DaemonSet does not exist. */
function answer({ path }: Asked): [code: number, body: object] {
  const labels = { 'cni-gate.io/profile': 'linkerd' };
  const items: Record<string, object[]> = {
    '/api/v1/nodes': [apiNode('n1', 'boot', 1)],
    '/api/v1/namespaces': [{ metadata: { name: 'shop', uid: 'u', resourceVersion: '1', labels } }],
  };
  if (path === '/version') return [200, { major: '1', minor: '36', gitVersion: 'v1.36.3' }];
  if (path.endsWith('/services/cni-gate')) return [200, { metadata: {}, spec: { ports: [{ port: 443 }] } }];
  // paths of single objects
  if (/\/cni-gate[a-z-]*$|\.cni-gate\.io$/.test(path)) return [404, status(404, 'NotFound', 'not found')];
  return [200, { metadata: { resourceVersion: '1' }, items: items[path] ?? [] }];
}

const fakeCluster = async (t: TestContext): Promise<string> => {
  const { url } = await startFakeApi(t, (asked, response) => json(response, ...answer(asked)));
  return writeKubeconfig({ server: url, 'insecure-skip-tls-verify': true });
};

/** A kubeconfig for a port of this machine on which nothing listens. */
async function unreachable(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return writeKubeconfig({ server: `https://127.0.0.1:${port}` });
}

test('input that cannot be used is an error with a code', async (t) => {
  const config = join(folder, 'config.yaml');
  writeFileSync(config, 'kind: Nonsense\n');
  const [nowhere, yaml] = ['/nowhere', ['--output', 'yaml']];
  const cases: [() => Command, string[], RegExp][] = [
    [statusCommand, [], /no cluster to ask: .*\(CNI_GATE_CLUSTER_CONFIG\)$/],
    [
      statusCommand,
      ['--kubeconfig', nowhere],
      /cannot use kubeconfig .*: no such file or directory .*_CLUSTER_CONFIG\)$/,
    ],
    [
      statusCommand,
      ['--config', nowhere],
      /cannot read \/nowhere: no such file or directory \(CNI_GATE_CONFIG_UNREADABLE\)$/,
    ],
    [statusCommand, ['--config', config], /\(CNI_GATE_CONFIG_INVALID\)$/],
    [statusCommand, ['-n', ''], /'' is invalid\. expected the name of a namespace\. \(CNI_GATE_USAGE\)/],
    [statusCommand, yaml, /Allowed choices are text, json\. \(CNI_GATE_USAGE\)/],
    [checkCommand, ['--wait', 'soon'], /'soon' is invalid\. expected a duration .* \(CNI_GATE_USAGE\)/],
    [checkCommand, yaml, /Allowed choices are text, json\. \(CNI_GATE_USAGE\)/],
    [dashboardCommand, ['--port', '99999'], /expected a port, 0 to 65535\. \(CNI_GATE_USAGE\)$/],
  ];
  for (const [make, args, expected] of cases) assert.match(await errorOf(t, make(), args), expected);
});

test("wrong access to the API server: one sentence, with Node's code and ours", async (t) => {
  const ago = (days: number): Date => new Date(Date.now() - days * 24 * 3_600_000);
  const [authority, another] = [30, 30].map((days) => createAuthority({ days: 90, now: ago(days) }));
  assert.ok(authority && another);
  const signed = (names: string[], now = ago(0)) => issueServing(authority, { names, days: 1, now });
  const base64 = (content: string): string => Buffer.from(content).toString('base64');
  const shown = ({ certificate, key }: Authority): object => ({
    'client-certificate-data': base64(certificate),
    'client-key-data': base64(key),
  });
  const [good, client, ca] = [signed(['127.0.0.1']), signed(['me'], ago(10)), authority.certificate];
  const cases: [serving: Authority, ca: string, user: object, expected: RegExp][] = [
    [good, another.certificate, {}, /unable to verify the first certificate .*UNTRUSTED\)$/],
    [signed(['api.example.com']), ca, {}, /not in the cert's list: .*UNTRUSTED\)$/],
    [signed(['127.0.0.1'], ago(10)), ca, {}, /certificate has expired .*UNTRUSTED\)$/],
    [good, ca, shown(client), /the credentials of \S+ are missing, have expired, or .*UNAUTHORIZED\)$/],
    [good, ca, shown({ ...client, key: another.key }), /key values mismatch .*CLUSTER_CONFIG\)$/],
  ];
  for (const [{ certificate: cert, key }, trusted, user, expected] of cases) {
    // the server rejects all credentials
    const server = createTlsServer(
      { cert, key, requestCert: true, rejectUnauthorized: false },
      (_, response) => json(response, 401, status(401, 'Unauthorized', 'Unauthorized')),
    ).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const cluster = {
      server: `https://127.0.0.1:${port}`,
      'certificate-authority-data': base64(trusted),
    };
    const args = ['--kubeconfig', writeKubeconfig(cluster, user)];
    assert.match(await errorOf(t, checkCommand(), args), expected);
  }
});

test('as a program: the error only on standard error, exit code 2; --wait says once what it waits for', async () => {
  const kubeconfig = await unreachable();
  const { status: exit, stdout, stderr } = cniGate(['check', '--kubeconfig', kubeconfig, '--wait', '100ms']);
  assert.deepEqual([exit, stdout], [2, '']);
  const [waiting, given, ...others] = stderr.trimEnd().split('\n');
  assert.match(waiting ?? '', /^cni-gate: waiting: .*\(CNI_GATE_CLUSTER_UNREACHABLE\)$/);
  assert.match(
    given ?? '',
    /^cni-gate: cannot get .* at https:\/\/127.*: .*ECONNREFUSED.*\(CNI_GATE_CLUSTER_UNREACHABLE\)$/,
  );
  assert.deepEqual(others, []);
});

test('status: colours only where they are wanted, and lines of 100 columns', async (t) => {
  const kubeconfig = await fakeCluster(t);
  const [inPipe, coloured] = await Promise.all(
    [{}, { FORCE_COLOR: '1' }].map((env) => {
      const child = startCniGate(['status', '--kubeconfig', kubeconfig], { ...process.env, ...env });
      assert.ok(child.stdout);
      return text(child.stdout);
    }),
  );
  const [headline, ...lines] = inPipe?.split('\n') ?? [];
  const [first = ''] = coloured?.split('\n') ?? [];
  assert.notEqual(first, headline);
  assert.equal(stripVTControlCharacters(first), headline);
  const widest = Math.max(...lines.map((line) => line.length));
  assert.ok(widest > 80 && widest <= 100, inPipe);
});

test('dashboard: the printed address has the token for the data, on loopback; an outage makes the data old', async (t) => {
  let isDown = false;
  const { url } = await startFakeApi(t, (asked, response) =>
    isDown
      ? json(response, 500, status(500, 'InternalError', 'it failed'))
      : json(response, ...answer(asked)),
  );
  const kubeconfig = writeKubeconfig({ server: url, 'insecure-skip-tls-verify': true });
  const child = startCniGate(['dashboard', '--kubeconfig', kubeconfig]);
  t.after(() => child.kill('SIGKILL'));
  assert.ok(child.stdout);
  // if the program ends without printing a line, the assertion below fails
  const ended = once(child, 'close').then(() => ['']);
  const [line] = await Promise.race([once(child.stdout, 'data'), ended]);
  const [, origin, token] = /^(http:\/\/127\.0\.0\.1:\d+)\/#token=([\w-]{32})\n$/.exec(String(line)) ?? [];
  assert.ok(origin, String(line));
  const headers = { authorization: `Bearer ${token}` };
  const data = async () => (await (await fetch(`${origin}/data`, { headers })).json()) as Dashboard;
  const until = (isIt: (shown: Dashboard) => boolean): Promise<void> =>
    eventually(async () => isIt(await data()), true);
  assert.deepEqual([(await data()).result, (await data()).stale], ['failed', null]);
  assert.equal((await fetch(`${origin}/data`)).status, 401);
  const taken = await errorOf(t, dashboardCommand(), [
    '--kubeconfig',
    kubeconfig,
    '--port',
    new URL(origin).port,
  ]);
  assert.match(taken, /cannot open a port: listen EADDRINUSE.* 127\.0\.0\.1:\d+ \(CNI_GATE_LISTEN\)$/);
  isDown = true;
  await until(({ stale, result }) => /it failed/.test(stale ?? '') && result === 'failed');
  isDown = false;
  await until(({ stale }) => stale === null);
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'close'), [0, null]);
});
