/** Requests that are refused before a handler runs: each gets our own text, and an ordinary client reads it. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { recorded } from '../support/reviews.ts';
import { startServer, type TestServer } from '../support/running-server.ts';

const MiB = 1024 * 1024;

async function open(t: TestContext, { port, certificate }: TestServer): Promise<TLSSocket> {
  const { authority } = certificate;
  const ca = authority === undefined ? {} : { ca: authority };
  const socket = connect({ host: '127.0.0.1', port, servername: 'localhost', ...ca });
  t.after(() => socket.destroy());
  await once(socket, 'secureConnect');
  return socket.on('error', () => {});
}

/** Sends bytes, and reads what comes until the server closes. */
async function exchange(t: TestContext, server: TestServer, bytes: string) {
  const socket = await open(t, server);
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const closed = once(socket, 'close');
  socket.write(bytes);
  await closed;
  const [head = '', body = ''] = text.split('\r\n\r\n');
  return { status: Number(head.split(' ')[1]), head, body: JSON.parse(body) };
}

const counted = async (server: TestServer): Promise<number> =>
  Number(
    /^cni_gate_bad_requests_total\{code="CNI_GATE_HTTP"\} (\d+)$/m.exec(
      (await server.ops('/metrics')).body,
    )?.[1] ?? 0,
  );

for (const [name, request, status, message] of [
  [
    'a path that is no URL',
    'POST /% HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}',
    400,
    /^expected a path such as \/mutate, got \/%, which is no URL$/,
  ],
  ['something else than HTTP', 'hello\r\n\r\n', 400, /^expected a request of HTTP\/1.1, got something else/],
  [
    'two lengths',
    'POST /mutate HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
    400,
    /^expected a request of HTTP\/1.1/,
  ],
  [
    'headers of 20 KiB',
    `POST /mutate HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    431,
    /^the path and the headers are larger than 16 KiB$/,
  ],
] as const) {
  test(`${name} gets ${status} CNI_GATE_HTTP, and is counted`, async (t) => {
    const server = await startServer(t);
    const answer = await exchange(t, server, request);
    assert.equal(answer.status, status, answer.head);
    assert.equal(answer.body.code, 'CNI_GATE_HTTP');
    assert.match(answer.body.message, message);
    assert.equal(await counted(server), 1);
  });
}

test('a handshake that is broken is no bad request', async (t) => {
  const server = await startServer(t);
  const socket = connect({ host: '127.0.0.1', port: server.port, ca: '', servername: 'localhost' });
  await once(socket, 'error');
  assert.equal(await counted(server), 0);
});

test('a path of 10 KiB is quoted up to 512 characters', async (t) => {
  const server = await startServer(t);
  const { status, body } = await server.post(`/${'x'.repeat(10_000)}`, '');
  assert.equal(status, 404);
  assert.ok(body.length < 1000, `${body.length}`);
});

/** A client that reads nothing before it has written everything, on a connection that the server closes after it. */
async function writesFirst(t: TestContext, server: TestServer, path: string, bytes: number, type: string) {
  const socket = (await open(t, server)).pause();
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: ${type}\r\nContent-Length: ${bytes}\r\n\r\n`,
  );
  const chunk = Buffer.alloc(MiB / 4, ' ');
  for (let sent = 0; sent < bytes; sent += chunk.length) {
    const failed = await new Promise((resolve) =>
      socket.write(chunk.subarray(0, Math.min(chunk.length, bytes - sent)), resolve),
    );
    assert.equal(failed ?? undefined, undefined, `broken after ${sent} bytes`);
  }
  const [answer] = (await once(socket.resume(), 'data')) as [Buffer];
  return Number(answer.toString().split(' ')[1]);
}

for (const [name, path, bytes, type, status] of [
  ['a body that is too large', '/mutate', 8 * MiB, 'application/json', 413],
  ['a body for a path that is not there', '/nothing', 4 * MiB, 'application/json', 404],
  ['a body of another type', '/mutate', 4 * MiB, 'text/plain', 415],
] as const) {
  test(`${name} is read to its end before ${status} is sent`, async (t) => {
    const server = await startServer(t);
    assert.equal(await writesFirst(t, server, path, bytes, type), status);
  });
}

test('a client that announces much and sends nothing gets its 413 within seconds', async (t) => {
  const server = await startServer(t);
  const socket = await open(t, server);
  const begun = performance.now();
  socket.write(
    'POST /mutate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9000000000\r\n\r\n',
  );
  const [answer] = (await once(socket, 'data')) as [Buffer];
  const took = performance.now() - begun;
  assert.match(answer.toString(), /^HTTP\/1\.1 413 /);
  assert.ok(took > 1500 && took < 5000, `${took} ms`);
});

test('refused calls do not add up on their connection', async (t) => {
  const server = await startServer(t);
  const pod = JSON.stringify(recorded('pod-deployment-web'));
  for (let count = 0; count < 5; count++) {
    assert.equal((await server.post('/mutate', 'x')).status, 400);
    assert.equal((await server.post('/%', '')).status, 400);
    assert.equal((await server.post('/mutate', pod)).status, 200);
  }
});
