import assert from 'node:assert/strict';
import { once } from 'node:events';
import { lstatSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { dashboardCommand } from '../../../webhook/commands/dashboard.ts';
import type { Dashboard } from '../../../webhook/dashboard/model.ts';
import { errorOf, startCniGate } from '../../support/command.ts';
import { type Asked, json, startFakeApi, status } from '../../support/fake-api-server.ts';
import { apiNode } from '../readiness/objects.ts';

/** A cluster with one node and nothing of cni-gate. */
function answer({ path, query }: Asked, response: ServerResponse): void {
  const items = path.endsWith('/nodes') ? [apiNode('n1', 'boot', 1)] : [];
  const isList = !/\/(?:configmaps|services|deployments|leases|secrets|validatingadmission\w+)\/[^/]+$/.test(
    path,
  );
  if (path === '/version') json(response, 200, { gitVersion: 'v1.36.3', major: '1', minor: '36' });
  else if (query.watch !== undefined)
    response.writeHead(200, { 'content-type': 'application/json' }).flushHeaders();
  else if (isList)
    json(response, 200, { kind: 'List', apiVersion: 'v1', metadata: { resourceVersion: '5' }, items });
  else json(response, 404, status(404, 'NotFound', 'not found'));
}

async function fakeCluster(t: TestContext): Promise<{ folder: string; kubeconfig: string }> {
  const { url } = await startFakeApi(t, answer);
  const folder = mkdtempSync(join(tmpdir(), 'cni-gate-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const kubeconfig = join(folder, 'kubeconfig');
  const config = {
    clusters: [{ name: 'c', cluster: { server: url, 'insecure-skip-tls-verify': true } }],
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    users: [{ name: 'u', user: {} }],
    'current-context': 'c',
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  return { folder, kubeconfig };
}

test('dashboard rejects input that it cannot use, with a code', async (t) => {
  const { folder, kubeconfig } = await fakeCluster(t);
  const link = join(folder, 'link');
  symlinkSync(kubeconfig, link);
  const cases: [string[], RegExp][] = [
    [[], /no cluster to ask: .*\(CNI_GATE_CLUSTER_CONFIG\)$/],
    [['--out', 'x.html', '--port', '0'], /--out writes a file, and --port serves: .*\(CNI_GATE_USAGE\)$/],
    [['--port', '99999'], /expected a port, 0 to 65535\. \(CNI_GATE_USAGE\)$/],
    [
      ['--kubeconfig', kubeconfig, '--out', join(folder, 'nowhere', 'x.html')],
      /cannot write .*x\.html: ENOENT.*\(CNI_GATE_OUTPUT\)$/,
    ],
    // where this is /dev/stdout, replacing it takes it from every program
    [
      ['--kubeconfig', kubeconfig, '--out', link],
      /cannot write .*link: it is there, and is no regular file \(CNI_GATE_OUTPUT\)$/,
    ],
  ];
  for (const [args, text] of cases) assert.match(await errorOf(t, dashboardCommand(), args), text);
  assert.ok(lstatSync(link).isSymbolicLink(), 'the link is still there');
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  t.after(() => taken.close());
  const address = taken.address();
  const port = String(typeof address === 'object' ? address?.port : '');
  const error = await errorOf(t, dashboardCommand(), ['--kubeconfig', kubeconfig, '--port', port]);
  assert.match(
    error,
    /cannot listen on 127\.0\.0\.1 port \d+ \(--port\): another process.*\(CNI_GATE_LISTEN\)$/,
  );
});

test('--out writes a page that only its owner may read, in place of an older one', async (t) => {
  const { folder, kubeconfig } = await fakeCluster(t);
  const file = join(folder, 'page.html');
  writeFileSync(file, 'older', { mode: 0o644 });
  const child = startCniGate(['dashboard', '--kubeconfig', kubeconfig, '--out', file]);
  const [code] = await once(child, 'close');
  assert.equal(code, 0);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  const [, data = ''] = /id="data">(.*?)<\/script>/s.exec(readFileSync(file, 'utf8')) ?? [];
  const { verdict, nodes }: Dashboard = JSON.parse(data);
  assert.deepEqual([verdict, nodes.map(({ name }) => name)], ['not-installed', ['n1']]);
});

test('the printed address has the token by which the data is served, on loopback, until it is told to stop', async (t) => {
  const { kubeconfig } = await fakeCluster(t);
  const child = startCniGate(['dashboard', '--kubeconfig', kubeconfig]);
  t.after(() => child.kill('SIGKILL'));
  assert.ok(child.stdout);
  // an end without a line fails below
  const ended = once(child, 'close').then(() => ['']);
  const [line] = await Promise.race([once(child.stdout, 'data'), ended]);
  const [, origin, token] = /^(http:\/\/127\.0\.0\.1:\d+)\/#token=([\w-]{32})\n$/.exec(String(line)) ?? [];
  assert.ok(origin, String(line));
  const headers = { authorization: `Bearer ${token}` };
  const data = (await (await fetch(`${origin}/data`, { headers })).json()) as Dashboard;
  assert.deepEqual([data.verdict, data.nodes.length], ['not-installed', 1]);
  assert.equal((await fetch(`${origin}/data`)).status, 401);
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'close'), [0, null]);
});
