/** Requests that are refused before a handler runs. The server answers with its own text, which any client can read. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type TestContext, test } from 'node:test';
import { connect } from 'node:tls';
import { recorded } from '../support/reviews.ts';
import { open, startServer, type TestServer } from '../support/running-server.ts';

/** Sends bytes, and returns everything that the server sends until it closes the connection. */
async function exchange(t: TestContext, server: TestServer, bytes: string): Promise<string> {
  const socket = await open(t, server);
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  const closed = once(socket, 'close');
  socket.write(bytes);
  await closed;
  return text;
}

const counted = async (server: TestServer): Promise<number> =>
  Number(
    /^cni_gate_bad_requests_total\{code="CNI_GATE_HTTP"\} (\d+)$/m.exec(
      (await server.ops('/metrics')).body,
    )?.[1] ?? 0,
  );

for (const [name, request, answer] of [
  ['something other than HTTP', 'hello\r\n\r\n', /^HTTP\/1.1 400 /],
  [
    'two lengths',
    'POST /mutate HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}',
    /^HTTP\/1.1 400 /,
  ],
  [
    'headers of 20 KiB',
    `POST /mutate HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
    /^HTTP\/1.1 431 /,
  ],
] as const) {
  test(`${name} is answered, and counted as CNI_GATE_HTTP`, async (t) => {
    const server = await startServer(t);
    assert.match(await exchange(t, server, request), answer);
    assert.equal(await counted(server), 1);
  });
}

test('a broken handshake does not count as a bad request', async (t) => {
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

test('a client that announces a large body gets its 413 immediately', async (t) => {
  const server = await startServer(t);
  const socket = await open(t, server);
  socket.write(
    'POST /mutate HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9000000000\r\n\r\n',
  );
  const [answer] = (await once(socket, 'data')) as [Buffer];
  assert.match(answer.toString(), /^HTTP\/1\.1 413 /);
});

test('refused calls do not use up the limit of their connection', async (t) => {
  const server = await startServer(t);
  const pod = JSON.stringify(recorded('pod-deployment-web'));
  for (let count = 0; count < 5; count++) {
    assert.equal((await server.post('/mutate', 'x')).status, 400);
    assert.equal((await server.post('/%', '')).status, 400);
    assert.equal((await server.post('/mutate', pod)).status, 200);
  }
});
