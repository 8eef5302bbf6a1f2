import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type ConnectionOptions, connect, createServer } from 'node:tls';
import { type Authority, createAuthority, issueServing } from '../../../certs/issue.ts';
import { checkPair, namesIn } from '../../../certs/verify.ts';
import { extensionsOf, refusal, rsaAuthority } from './fixtures.ts';

const now = new Date('2030-01-01T12:00:00.900Z');
const authority = createAuthority({ commonName: 'cni-gate_Größe', days: 365 * 30, now });
const names = ['cni-gate.cni-gate.svc', '192.0.2.1', '2001:db8::1'];
const serving = issueServing(authority, { names, days: 90, now });

/** The uses in a keyUsage extension. */
const usesIn = (extension: Record<string, unknown> | undefined): string[] =>
  Object.keys(extension ?? {}).filter((use) => extension?.[use] === true && use !== 'critical');

test('an authority signs itself, may sign certificates of servers and no authorities, and lasts beyond 2049', () => {
  const certificate = new X509Certificate(authority.certificate);
  checkPair(authority.certificate, authority.key, now);
  assert.equal(certificate.subject, 'CN=cni-gate_Größe');
  assert.ok(certificate.verify(certificate.publicKey) && certificate.checkIssued(certificate));
  // the form of the date changes in 2050
  assert.equal(certificate.validFromDate.toISOString(), '2030-01-01T11:55:00.000Z');
  assert.equal(certificate.validToDate.toISOString(), '2059-12-25T12:00:00.000Z');
  const extensions = extensionsOf(authority.certificate);
  assert.deepEqual(Object.keys(extensions).sort(), ['basicConstraints', 'keyUsage', 'subjectKeyIdentifier']);
  const { basicConstraints, keyUsage, subjectKeyIdentifier } = extensions;
  assert.deepEqual([basicConstraints?.critical, keyUsage?.critical], [true, true]);
  assert.deepEqual([basicConstraints?.cA, basicConstraints?.pathLenConstraint], [true, 0]);
  assert.deepEqual(usesIn(keyUsage).sort(), ['cRLSign', 'keyCertSign']);
  // RFC 5280, 4.2.1.2, method 1: the SHA-1 of the bits of the public key.
  const { x = '', y = '' } = certificate.publicKey.export({ format: 'jwk' });
  const bits = Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  assert.equal(subjectKeyIdentifier?.subjectKeyIdentifier, createHash('sha1').update(bits).digest('hex'));
  // YAML would write carriage returns as escapes
  assert.match(authority.certificate, /^-----BEGIN CERTIFICATE-----\n[^\r]*\n-----END CERTIFICATE-----\n$/);
});

test('a serving certificate is that of a TLS server and of nothing else, and lasts the asked days', () => {
  const leaf = new X509Certificate(serving.certificate);
  const extensions = extensionsOf(serving.certificate);
  const critical = Object.keys(extensions).filter((name) => extensions[name]?.critical);
  assert.deepEqual(critical.sort(), ['basicConstraints', 'keyUsage']);
  assert.deepEqual([extensions.basicConstraints?.cA, leaf.ca], [false, false]);
  assert.deepEqual(usesIn(extensions.keyUsage), ['digitalSignature']);
  // serverAuth
  assert.deepEqual(leaf.keyUsage, ['1.3.6.1.5.5.7.3.1']);
  const own = extensionsOf(authority.certificate).subjectKeyIdentifier?.subjectKeyIdentifier;
  const { value } = extensions.authorityKeyIdentifier ?? {};
  // SEQUENCE of 22 bytes, [0] of 20 (RFC 5280, 4.2.1.1).
  assert.equal(Buffer.from(String(value), 'latin1').toString('hex'), `30168014${own}`);
  assert.equal(serving.notAfter.toISOString(), '2030-04-01T12:00:00.000Z');
  assert.deepEqual([leaf.validFromDate, leaf.validToDate], [serving.notBefore, serving.notAfter]);
  const brief = createAuthority({ days: 10, now });
  const { notAfter } = issueServing(brief, { names, days: 90, now });
  assert.deepEqual(notAfter, new X509Certificate(brief.certificate).validToDate);
});

test('an authority that cannot sign is refused', () => {
  const issue = (signer: Authority, at = now) => issueServing(signer, { names, days: 1, now: at });
  const early = new Date('2029-01-01T00:00:00Z');
  assert.throws(() => issue(authority, early), refusal('CNI_GATE_TLS_PAIR', /in force from/));
  for (const signer of [serving, rsaAuthority(now)])
    assert.throws(() => issue(signer), refusal('CNI_GATE_TLS_PAIR', /^The authority cannot sign: /));
});

/** The names of a certificate that is issued for these. */
function issuedFor(names: string[]): string[] {
  const { certificate } = issueServing(authority, { names, days: 1, now });
  return namesIn(new X509Certificate(certificate).subjectAltName);
}

test('DNS names and addresses are spelled in one way, and kept once; others are refused', () => {
  const given = ['CNI-gate.ns.svc', 'cni-gate.ns.svc', 'localhost', '192.0.2.1', '2001:DB8:0::1'];
  const longest = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`;
  assert.deepEqual(issuedFor([...given, '::ffff:192.0.2.1', longest]), [
    ...['cni-gate.ns.svc', 'localhost', '192.0.2.1', '2001:db8::1', '::ffff:c000:201', longest],
  ]);
  const wrong = [
    ...[
      '',
      'cni gate',
      'cni_gate.svc',
      '*.ns.svc',
      'cni-gate.svc.',
      'cni-gate..svc',
      'cni-.svc',
      'größe.svc',
    ],
    ...[`${longest}d`, 'cni-gate.svc\n', 'cni-gate.svc:8443', 'fe80::1%eth0', '[::1]'],
    ...['192.0.2.256', '192.0.2', '192.0.2.0/24'],
  ];
  for (const name of wrong)
    assert.throws(() => issuedFor(['localhost', name]), refusal('CNI_GATE_USAGE', /is neither/), name);
});

test('names are read from the line that Node gives, and none that a value of another kind contains', () => {
  const line = 'DNS:a.example, IP Address:192.0.2.1, URI:https://c.example, IP Address:2001:DB8:0:0:0:0:0:1';
  assert.deepEqual(namesIn(`${line}, DNS:d`), ['a.example', '192.0.2.1', '2001:db8::1', 'd']);
  assert.deepEqual(namesIn(undefined), []);
  const forged = 'URI:"x, DNS:evil.example", DNS:"b, \\"DNS:evil.example", DNS:a';
  assert.deepEqual(namesIn(forged), ['b, "DNS:evil.example', 'a']);
});

test('a client that trusts the authority connects by name and by address, and refuses others', async (t) => {
  // a name outside ASCII: forge would encode it a second time as issuer, and no client would find the issuer
  const made = () => createAuthority({ commonName: 'Größe', days: 2, now: new Date() });
  // the stranger has the same name: only the key differs
  const [signer, stranger] = [made(), made()];
  const name = 'cni-gate.cni-gate.svc';
  const outcome = await serve(t, signer, [name, '127.0.0.1']);
  const ca = signer.certificate;
  assert.equal(await outcome({ ca, servername: name }), 'connected');
  assert.equal(await outcome({ ca }), 'connected');
  assert.equal(await outcome({ ca, servername: 'other.cni-gate.svc' }), 'ERR_TLS_CERT_ALTNAME_INVALID');
  assert.match(
    await outcome({ ca: stranger.certificate, servername: name }),
    /^(UNABLE_TO_GET_ISSUER_CERT_LOCALLY|UNABLE_TO_VERIFY_LEAF_SIGNATURE|CERT_SIGNATURE_FAILURE)$/,
  );
});

/** Serves TLS, and returns a function that connects: its result is `connected`, or the code of the client's refusal. */
async function serve(t: TestContext, signer: Authority, names: string[]) {
  const { certificate: cert, key } = issueServing(signer, { names, days: 1, now: new Date() });
  const server = createServer({ cert, key }, (socket) => socket.end()).on('tlsClientError', () => {});
  t.after(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return async (options: ConnectionOptions): Promise<string> => {
    const socket = connect({ ...options, host: '127.0.0.1', port });
    try {
      await once(socket, 'secureConnect');
      return socket.authorized ? 'connected' : 'unauthorized';
    } catch (error) {
      return String((error as NodeJS.ErrnoException).code);
    } finally {
      socket.destroy();
    }
  };
}
