import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { connect as connectPlain, createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileCertificate, selfMadeCertificate } from '../../certs/files.ts';
import { createAuthority, issueServing } from '../../certs/issue.ts';
import { viewOf } from '../support/cluster-views.ts';
import { head } from '../support/exchange.ts';
import { folderWith } from '../support/folder.ts';
import { patchOf, recorded } from '../support/reviews.ts';
import { open, startServer, type TestServer } from '../support/running-server.ts';

/** Waits until `check` returns true, for instance after a reload. After 4 s, fails with the server's log. */
async function eventually(server: TestServer, check: () => Promise<boolean> | boolean): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    if (await check()) return;
    await sleep(20);
  }
  assert.fail(`there was no effect; logged:\n${server.lines.map((line) => JSON.stringify(line)).join('\n')}`);
}

const body = (): string => JSON.stringify(recorded('pod-deployment-web'));

async function injectedImage(server: TestServer): Promise<string> {
  const { response } = JSON.parse((await server.post('/mutate', body())).body);
  return JSON.stringify(patchOf(response)).match(/"image":"([^"]*)"/)?.[1] ?? '';
}

const configuration = (image: string): string =>
  `apiVersion: cni-gate.io/v1alpha1\nkind: Configuration\nproof: {image: "${image}"}\n`;

test('a configuration is reloaded when a ConfigMap mount replaces its link, and an invalid one changes nothing', async (t) => {
  const path = folderWith(t);
  const publish = (version: string, text: string): void => {
    mkdirSync(join(path, version));
    writeFileSync(join(path, version, 'config.yaml'), text);
    symlinkSync(version, join(path, '..data_tmp'));
    renameSync(join(path, '..data_tmp'), join(path, '..data'));
  };
  publish('..1', configuration('mirror/one'));
  symlinkSync('..data/config.yaml', join(path, 'config.yaml'));
  const server = await startServer(t, { config: join(path, 'config.yaml') });
  assert.equal(await injectedImage(server), 'mirror/one');
  publish('..2', configuration('mirror/two'));
  await eventually(server, async () => (await injectedImage(server)) === 'mirror/two');

  publish('..3', 'apiVersion: cni-gate.io/v1alpha1\nkind: Configuration\nprof: {}\n');
  await eventually(server, () =>
    server.lines.some((line) => /last good configuration stays/.test(String(line.msg))),
  );
  assert.equal(await injectedImage(server), 'mirror/two');
  const reported = server.lines.find((line) => /last good/.test(String(line.msg)));
  assert.match(
    String(reported?.msg),
    /config\.yaml:3: prof: unknown field; allowed here: apiVersion, kind, proof/,
  );
  const metrics = (await server.ops('/metrics')).body;
  assert.match(metrics, /cni_gate_reloads_total\{source="configuration",result="success"\} 1\n/);
  assert.match(metrics, /cni_gate_reloads_total\{source="configuration",result="failure"\} 1\n/);
  assert.match(metrics, /cni_gate_last_reload_successful\{source="configuration"\} 0\n/);

  rmSync(join(path, '..data'));
  await sleep(100);
  publish('..4', configuration('mirror/four'));
  await eventually(server, async () => (await injectedImage(server)) === 'mirror/four');
  const failures = server.lines.filter(({ level }) => level === 'error').map(({ msg }) => String(msg));
  assert.equal(failures.length, 2, 'each is reported once');
  assert.match(failures[1] ?? '', /cannot read .*config\.yaml: no such file or directory$/);
  assert.match(
    (await server.ops('/metrics')).body,
    /cni_gate_last_reload_successful\{source="configuration"\} 1\n/,
  );
});

test('a certificate in files is replaced without a failed request; a pair that does not match is never served', async (t) => {
  const now = new Date();
  const authority = createAuthority({ days: 3, now });
  const first = issueServing(authority, { names: ['localhost'], days: 1, now });
  const second = issueServing(authority, { names: ['localhost'], days: 2, now });
  const path = folderWith(t, { 'tls.crt': first.certificate, 'tls.key': first.key });
  const [certificateFile, keyFile] = [join(path, 'tls.crt'), join(path, 'tls.key')];
  const server = await startServer(t, {
    certificate: async (events) => fileCertificate(certificateFile, keyFile, events),
  });
  const call = async (): Promise<number> =>
    (await server.post('/mutate', body(), { agent: false, ca: authority.certificate })).status;
  assert.equal(await call(), 200);

  let calls = 0;
  let stop = false;
  const load = (async () => {
    while (!stop) {
      assert.equal(await call(), 200);
      calls++;
    }
  })();
  writeFileSync(certificateFile, second.certificate);
  await eventually(server, () =>
    server.lines.some((line) => /last good certificate stays/.test(String(line.msg))),
  );
  writeFileSync(keyFile, second.key);
  await eventually(server, () =>
    server.lines.some((line) => line.msg === 'reloaded' && line.source === 'certificate'),
  );
  const after = calls;
  await eventually(server, () => calls > after + 2);
  stop = true;
  await load;
  assert.equal(server.certificate.current.certificate, second.certificate);
  const metrics = (await server.ops('/metrics')).body;
  const expiry = /cni_gate_certificate_not_after_timestamp_seconds (\d+)\n/.exec(metrics);
  assert.equal(Number(expiry?.[1]), second.notAfter.getTime() / 1000);
});

test('a certificate in files without a name is refused: the API server would not accept it', async (t) => {
  const { certificate, key } = createAuthority({ days: 1, now: new Date() });
  const path = folderWith(t, { 'tls.crt': certificate, 'tls.key': key });
  const silent = { onReload: () => {}, onError: () => {} };
  assert.throws(() => fileCertificate(join(path, 'tls.crt'), join(path, 'tls.key'), silent), {
    code: 'CNI_GATE_TLS_PAIR',
    message: /tls\.crt has no subjectAltName/,
  });
});

test('a drain makes the server unready, answers running requests, and closes in time', async (t) => {
  const server = await startServer(t, { drainDelay: 150 });
  assert.equal((await server.ops('/livez')).status, 200);
  assert.equal((await server.ops('/readyz')).status, 200);
  assert.equal((await server.post('/mutate', body())).headers.connection, 'keep-alive');
  const drained = server.drain();
  const unready = await server.ops('/readyz');
  assert.deepEqual([unready.status, unready.body], [503, 'shutting down\n']);
  const late = await server.post('/mutate', body());
  assert.equal(late.status, 200);
  assert.equal(late.headers.connection, 'close');
  await drained;
  await assert.rejects(server.post('/mutate', body()), /ECONNREFUSED/);
});

test('a drain cuts off a request that never ends', async (t) => {
  const stuck = await startServer(t, {
    cluster: () => viewOf({ facts: () => new Promise(() => {}) }),
    drainTimeout: 200,
  });
  const never = assert.rejects(stuck.post('/mutate?timeout=2s', body()), /socket hang up|ECONNRESET/);
  await sleep(100);
  await stuck.drain();
  await never;
});

/** Opens a connection and sends one request on it. The API server keeps such an idle connection for 90 s. */
async function idleConnection(
  t: TestContext,
  server: TestServer,
): Promise<{ call(): Promise<string>; closed: Promise<unknown> }> {
  const socket = (await open(t, server)).setEncoding('utf8');
  const closed = once(socket, 'close');
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk;
  });
  const call = async (): Promise<string> => {
    answer = '';
    socket.write(head('/mutate', Buffer.byteLength(body())) + body());
    while (!answer.endsWith('}') && !socket.destroyed) await Promise.race([once(socket, 'data'), closed]);
    return answer;
  };
  assert.match(await call(), /^HTTP\/1\.1 200 /);
  return { call, closed };
}

/** Waits until the port refuses connections. A server that drains closes its port only after a delay. */
async function portClosed(server: TestServer): Promise<void> {
  await eventually(server, async () => {
    const socket = connectPlain({ host: '127.0.0.1', port: server.port });
    const refused = await Promise.race([
      once(socket, 'connect').then(() => false),
      once(socket, 'error').then(() => true),
    ]).catch(() => true);
    socket.destroy();
    return refused;
  });
}

test('a connection that is idle when the port closes gets its next request answered, and is closed', async (t) => {
  const server = await startServer(t, { drainTimeout: 60_000 });
  const { call, closed } = await idleConnection(t, server);
  const drained = server.drain();
  await portClosed(server);
  const answer = await call();
  assert.match(answer, /^HTTP\/1\.1 200 /);
  assert.match(answer, /\r\nconnection: close\r\n/i);
  await closed;
  await drained;
});

test('the cluster view closes after the last request is answered, and the certificate and the second port after it', async (t) => {
  const { promise: facts, resolve } = Promise.withResolvers<{ labels: Record<string, string> }>();
  const ended: string[] = [];
  const certificate = selfMadeCertificate(['localhost', '127.0.0.1'], 1);
  const server = await startServer(t, {
    cluster: () => viewOf({ facts: () => facts }, { close: async () => void ended.push('view') }),
    certificate: async () => ({
      current: certificate.current,
      authority: certificate.authority ?? '',
      close: async () => {
        ended.push('certificate');
        ended.push((await server.ops('/readyz')).body);
        certificate.close();
      },
    }),
  });
  const underWay = server.post('/mutate', body()).then(() => ended.push('request'));
  await sleep(100);
  const drained = server.drain();
  await sleep(100);
  assert.deepEqual(ended, []);
  resolve({ labels: { 'cni-gate.io/profile': 'cilium' } });
  await underWay;
  await drained;
  assert.deepEqual(ended, ['request', 'view', 'certificate', 'shutting down\n']);
  await assert.rejects(server.ops('/readyz'), /ECONNREFUSED/);
});

test('the error for a port that is in use names the port', async (t) => {
  const { port } = await startServer(t);
  await assert.rejects(startServer(t, { port }), {
    code: 'CNI_GATE_LISTEN',
    message: `cannot open a port: listen EADDRINUSE: address already in use 127.0.0.1:${port}`,
  });
});

test('a failed start stops what already runs: the certificate, then the second port', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const address = taken.address();
  assert.ok(typeof address === 'object' && address !== null);
  const { port: opsPort } = address;
  await new Promise((resolve) => taken.close(resolve));

  const probe = () => fetch(`http://127.0.0.1:${opsPort}/readyz`);
  const seen: string[] = [];
  const started = startServer(t, {
    opsPort,
    certificate: async () => {
      seen.push(await (await probe()).text());
      const source = selfMadeCertificate(['localhost'], 1);
      const close = async () => {
        seen.push(await (await probe()).text());
        source.close();
      };
      return { current: source.current, close };
    },
    cluster: () => {
      throw new Error('no such cluster');
    },
  });
  await assert.rejects(started, /^Error: no such cluster$/);
  assert.deepEqual(seen, ['starting\n', 'starting\n']);
  await assert.rejects(probe(), /fetch failed/);
});
