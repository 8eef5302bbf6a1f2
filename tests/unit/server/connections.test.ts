import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { suite, type TestContext, test } from 'node:test';
import { connect } from 'node:tls';
import { createAuthority, issueServing } from '../../../certs/issue.ts';
import { Connections } from '../../../webhook/server/connections.ts';

const now = new Date();
const authority = createAuthority({ days: 1, now });
const { certificate: cert, key } = issueServing(authority, { names: ['localhost'], days: 1, now });

/** How long a handshake may take, in milliseconds. */
const handshakeTimeout = 400;

/** @param accepted called for each TCP connection */
async function serverFor(t: TestContext, accepted = (): void => {}): Promise<number> {
  const server = createServer({ cert, key });
  new Connections(10, () => {}, handshakeTimeout).bound(server);
  server.on('connection', accepted).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

suite('a TLS handshake', () => {
  test('of which the bytes came while the server was busy does not', async (t) => {
    const port = await serverFor(t, () => {
      const end = performance.now() + 1.5 * handshakeTimeout;
      while (performance.now() < end);
    });
    const client = connect({ port, host: '127.0.0.1', servername: 'localhost', ca: authority.certificate });
    t.after(() => client.destroy());
    await once(client, 'secureConnect');
  });
});
