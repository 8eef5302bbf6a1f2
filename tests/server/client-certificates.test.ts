import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { Agent } from 'node:https';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { ClusterAuthority } from '../cluster/harness/pki.ts';
import { eventually } from '../support/eventually.ts';
import type { Answer } from '../support/exchange.ts';
import { folderWith } from '../support/folder.ts';
import { recorded } from '../support/reviews.ts';
import { startServer, type TestServer } from '../support/running-server.ts';

const body = JSON.stringify(recorded('pod-deployment-web'));
const [trusted, stranger] = await Promise.all([ClusterAuthority.create(), ClusterAuthority.create()]);

/** Starts a server that requires client certificates of the authority `trusted`. */
async function start(t: TestContext, clientName?: string[]): Promise<{ server: TestServer; file: string }> {
  const file = join(folderWith(t, { 'clients.crt': trusted.pair.certificate }), 'clients.crt');
  return { server: await startServer(t, { clientCa: file, clientName }), file };
}

/** Makes a call with a client certificate, or without any. */
function call(server: TestServer, shown?: { certificate: string; key: string }): Promise<Answer> {
  return server.post('/mutate', body, {
    agent: false,
    ...(shown && { cert: shown.certificate, key: shown.key }),
  });
}

test('a call with a certificate of the authority is answered, others are refused with a code', async (t) => {
  const { server } = await start(t);
  assert.equal((await call(server, await trusted.client('kube-apiserver'))).status, 200);
  const without = await call(server);
  assert.equal(without.status, 401);
  assert.match(without.body, /CNI_GATE_CLIENT_CERTIFICATE.*got none/);
  const foreign = await call(server, await stranger.client('kube-apiserver'));
  assert.equal(foreign.status, 401);
  assert.match(foreign.body, /got one that is refused/);
  // a serving certificate is not accepted from a client, whoever signed it
  assert.equal((await call(server, await trusted.serving(['kube-apiserver']))).status, 401);
  assert.match(
    (await server.ops('/metrics')).body,
    /cni_gate_bad_requests_total\{code="CNI_GATE_CLIENT_CERTIFICATE"\} 3\n/,
  );
});

test("with a name, another name's certificate is refused", async (t) => {
  const { server } = await start(t, ['front', 'kube-apiserver']);
  assert.equal((await call(server, await trusted.client('kube-apiserver'))).status, 200);
  const other = await call(server, await trusted.client('kubelet'));
  assert.equal(other.status, 403);
  assert.match(other.body, /CNI_GATE_CLIENT_NAME.*for front or kube-apiserver, got one for kubelet/);
});

test('after a reload of the authorities, open connections get one more call, and new ones are checked by the new file', async (t) => {
  const { server, file } = await start(t);
  const shown = await trusted.client('kube-apiserver');
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  t.after(() => agent.destroy());
  const kept = (): Promise<Answer> =>
    server.post('/mutate', body, { agent, cert: shown.certificate, key: shown.key });
  assert.equal((await kept()).headers.connection, 'keep-alive');
  writeFileSync(file, stranger.pair.certificate);
  await eventually(
    () => server.lines.some(({ msg, source }) => msg === 'reloaded' && source === 'client-ca'),
    true,
  );
  const last = await kept();
  assert.deepEqual([last.status, last.headers.connection], [200, 'close']);
  assert.equal((await kept()).status, 401);
  assert.equal((await call(server, await stranger.client('kube-apiserver'))).status, 200);

  writeFileSync(file, 'garbage');
  await eventually(() => server.lines.some(({ msg }) => /last good client-ca stays/.test(String(msg))), true);
  assert.equal((await call(server, await stranger.client('kube-apiserver'))).status, 200);
});

test('an unreadable file of authorities prevents the start', async (t) => {
  await assert.rejects(startServer(t, { clientCa: '/nowhere/ca.crt' }), { code: 'CNI_GATE_TLS_UNREADABLE' });
});
