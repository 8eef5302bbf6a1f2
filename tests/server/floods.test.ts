/** Floods of connections to a server with the memory of its container. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { head, open, pod } from '../support/attacked-server.ts';
import { clientHello } from '../support/client-hello.ts';
import { type SmallServer, startSmallServer } from '../support/small-server.ts';

const request = head('/mutate', Buffer.byteLength(pod)) + pod;

/** The number of connections to which the server is limited. */
const mostConnections = 1024;

/** A TCP connection without a TLS handshake, which is closed when the test ends. */
async function tcp(t: TestContext, { port }: SmallServer, localAddress: string): Promise<Socket> {
  const socket = connectTcp({ port, host: '127.0.0.1', localAddress }).on('error', () => {});
  t.after(() => socket.destroy());
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
  return socket;
}

/** Opens connections that send nothing, each from an address of its own. */
async function flood(t: TestContext, server: SmallServer, addresses: number): Promise<void> {
  for (let first = 0; first < addresses; first += 100) {
    const indices = Array.from({ length: 100 }, (_, index) => first + index);
    await Promise.all(
      indices.map((index) => tcp(t, server, `127.1.${1 + Math.floor(index / 200)}.${1 + (index % 200)}`)),
    );
  }
}

test('a caller whose reviews were answered keeps its connections while 1,300 addresses open one each', async (t) => {
  const server = await startSmallServer(t);
  assert.equal((await server.call('/mutate', pod)).status, 200);
  const own = await Promise.all(Array.from({ length: 8 }, () => open(t, server)));
  await flood(t, server, mostConnections + 300);
  for (const socket of own) {
    assert.equal(socket.destroyed, false);
    socket.write(request);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    assert.match(answer.toString(), /^HTTP\/1\.1 200 /);
  }
  assert.equal((await server.call('/mutate', pod)).status, 200, 'a new one finds room');
});

test('a ClientHello in single bytes is a handshake as any other', async (t) => {
  const server = await startSmallServer(t);
  const hello = await clientHello();
  const socket = (await tcp(t, server, '127.0.0.2')).setNoDelay();
  for (let index = 0; index < 20; index++) {
    socket.write(hello.subarray(index, index + 1));
    await sleep(2);
  }
  socket.write(hello.subarray(20));
  const [answer] = (await once(socket, 'data')) as [Buffer];
  // the answer is a TLS handshake record (22) with a ServerHello (2)
  assert.deepEqual([answer[0], answer[5]], [22, 2]);
});

test('a connection without a whole handshake is closed 5 seconds after it came', async (t) => {
  const server = await startSmallServer(t);
  const hello = await clientHello();
  const [silent, late] = [await tcp(t, server, '127.0.0.2'), await tcp(t, server, '127.0.0.3')];
  const begun = performance.now();
  setTimeout(() => late.write(hello), 3000);
  await Promise.all([silent, late].map((socket) => once(socket.resume(), 'close')));
  const took = performance.now() - begun;
  assert.ok(took > 4_000 && took < 7_000, `${took} ms`);
});
