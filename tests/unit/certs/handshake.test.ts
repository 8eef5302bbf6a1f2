import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { type ConnectionOptions, connect, createServer, type Server } from 'node:tls';
import { type Authority, createAuthority, issueServing } from '../../../certs/issue.ts';

const name = 'cni-gate.cni-gate.svc';
const longName = `${'a'.repeat(60)}.cni-gate.svc`;
const now = new Date();
let authority: Authority;
let stranger: Authority;
let server: Server;
const open: Server[] = [];

before(async () => {
  // The stranger has the same name: what tells the two apart is the key.
  [authority, stranger] = [
    createAuthority({ commonName: 'Größe', days: 2, now }),
    createAuthority({ commonName: 'Größe', days: 2, now }),
  ];
  server = await listen([name, '127.0.0.1']);
});

after(() => {
  for (const each of open) each.close();
});

test('a client that trusts the authority connects by name', async () => {
  assert.equal(await outcome(server, { ca: authority.certificate, servername: name }), 'connected');
});

test('and by IPv4 address', async () => {
  assert.equal(await outcome(server, { ca: authority.certificate }), 'connected');
});

test('and by a name that is too long for a subject', async () => {
  const other = await listen([longName]);
  assert.equal(await outcome(other, { ca: authority.certificate, servername: longName }), 'connected');
  assert.equal(await outcome(other, { ca: authority.certificate }), 'ERR_TLS_CERT_ALTNAME_INVALID');
});

test('a client refuses another name', async () => {
  const answer = await outcome(server, { ca: authority.certificate, servername: 'other.cni-gate.svc' });
  assert.equal(answer, 'ERR_TLS_CERT_ALTNAME_INVALID');
});

test('a client that trusts another authority refuses', async () => {
  const answer = await outcome(server, { ca: stranger.certificate, servername: name });
  assert.match(
    answer,
    /^(UNABLE_TO_GET_ISSUER_CERT_LOCALLY|UNABLE_TO_VERIFY_LEAF_SIGNATURE|CERT_SIGNATURE_FAILURE)$/,
  );
});

async function listen(names: string[]): Promise<Server> {
  const { certificate, key } = issueServing(authority, { names, days: 1, now });
  const listening = createServer({ cert: certificate, key }, (socket) => socket.end());
  open.push(listening);
  // A client that refuses leaves: that is the outcome of the test, not a fault of the server.
  listening.on('tlsClientError', () => {});
  listening.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  return listening;
}

/** `connected`, or the code of the client's refusal. */
async function outcome(to: Server, options: ConnectionOptions): Promise<string> {
  const { port } = to.address() as AddressInfo;
  const socket = connect({ ...options, host: '127.0.0.1', port });
  try {
    await once(socket, 'secureConnect');
    return socket.authorized ? 'connected' : 'unauthorized';
  } catch (error) {
    return String((error as NodeJS.ErrnoException).code);
  } finally {
    socket.destroy();
  }
}
