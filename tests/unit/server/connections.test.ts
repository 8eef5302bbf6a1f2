import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { type AddressInfo, connect as connectTcp } from 'node:net';
import { type TestContext, test } from 'node:test';
import { connect, type TLSSocket } from 'node:tls';
import { createAuthority, issueServing } from '../../../certs/issue.ts';
import { Connections } from '../../../webhook/server/connections.ts';

const now = new Date();
const authority = createAuthority({ days: 1, now });
const { certificate: cert, key } = issueServing(authority, { names: ['localhost'], days: 1, now });

/** Starts a server that accepts ten connections. @returns its port */
async function serverFor(t: TestContext, dropped: () => unknown): Promise<number> {
  const server = createServer({ cert, key }, (_request, response) => response.end());
  new Connections(10, dropped, 5000).bound(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

async function open(t: TestContext, port: number): Promise<TLSSocket> {
  const client = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: authority.certificate });
  t.after(() => client.destroy());
  await once(client, 'secureConnect');
  return client;
}

async function answered(socket: TLSSocket): Promise<void> {
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
  assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 200 /);
}

test('a caller with an answered call keeps its connections while many addresses open one each', async (t) => {
  let dropped = 0;
  const port = await serverFor(t, () => dropped++);
  const first = await open(t, port);
  await answered(first);
  const own = [first, ...(await Promise.all(Array.from({ length: 6 }, () => open(t, port))))];
  for (let index = 1; index <= 30; index += 1) {
    const other = connectTcp({ port, host: '127.0.0.1', localAddress: `127.1.1.${index}` });
    t.after(() => other.destroy());
    await once(other, 'connect');
  }
  assert.equal(dropped, own.length + 30 - 10);
  for (const socket of own) await answered(socket);
  await answered(await open(t, port));
});
