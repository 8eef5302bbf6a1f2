/** Requests that are refused before a handler runs. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test } from 'node:test';
import { recorded } from '../support/reviews.ts';
import { open, startServer } from '../support/running-server.ts';

test('a connection with other bytes than HTTP and TLS is closed', { timeout: 4000 }, async (t) => {
  const server = await startServer(t);
  for (const socket of [await open(t, server), connect(server.port, '127.0.0.1')]) {
    socket.write('hello\r\n\r\n');
    await once(socket.resume(), 'close');
  }
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
