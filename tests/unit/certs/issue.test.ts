import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { type ConnectionOptions, connect, createServer } from 'node:tls';
import { type Authority, createAuthority, issueServing } from '../../../certs/issue.ts';
import { checkPair, namesIn } from '../../../certs/verify.ts';
import { extensionsOf, refusal, rsaAuthority, signatureAlgorithmOf } from './fixtures.ts';

const began = new Date('2030-01-01T12:00:00.900Z');
const own = createAuthority({ commonName: 'cni-gate_Größe', days: 365 * 30, now: began });
const certificate = new X509Certificate(own.certificate);

test('an authority is signed by itself with SHA-256, and its key is its own', () => {
  assert.equal(certificate.subject, 'CN=cni-gate_Größe');
  assert.ok(certificate.verify(certificate.publicKey));
  assert.ok(certificate.checkIssued(certificate));
  assert.ok(certificate.ca);
  // ecdsa-with-SHA256 (RFC 5758, 3.2)
  assert.equal(signatureAlgorithmOf(own.certificate), '1.2.840.10045.4.3.2');
  checkPair(own.certificate, own.key, began);
});

test('an authority may sign certificates of servers, and authorities no more', () => {
  const extensions = extensionsOf(own.certificate);
  assert.deepEqual(Object.keys(extensions).sort(), ['basicConstraints', 'keyUsage', 'subjectKeyIdentifier']);
  const { basicConstraints, keyUsage, subjectKeyIdentifier } = extensions;
  assert.equal(basicConstraints?.critical, true);
  assert.equal(basicConstraints?.cA, true);
  assert.equal(basicConstraints?.pathLenConstraint, 0);
  assert.equal(keyUsage?.critical, true);
  const uses = Object.keys(keyUsage ?? {}).filter((use) => keyUsage?.[use] === true && use !== 'critical');
  assert.deepEqual(uses.sort(), ['cRLSign', 'keyCertSign']);
  // RFC 5280, 4.2.1.2, method 1: the SHA-1 of the bits of the public key.
  const { x = '', y = '' } = certificate.publicKey.export({ format: 'jwk' });
  const bits = Buffer.concat([Buffer.of(4), Buffer.from(x, 'base64url'), Buffer.from(y, 'base64url')]);
  assert.equal(subjectKeyIdentifier?.subjectKeyIdentifier, createHash('sha1').update(bits).digest('hex'));
});

test('an authority lasts the asked days, beyond 2049 as well, where the form of the date changes', () => {
  assert.equal(certificate.validFromDate.toISOString(), '2030-01-01T11:55:00.000Z');
  assert.equal(certificate.validToDate.toISOString(), '2059-12-25T12:00:00.000Z');
});

test('the PEM has no carriage returns, which YAML would write as escapes', () => {
  assert.match(own.certificate, /^-----BEGIN CERTIFICATE-----\n[^\r]*\n-----END CERTIFICATE-----\n$/);
});

const now = new Date('2030-01-01T12:00:00Z');
const names = ['cni-gate.cni-gate.svc', '192.0.2.1', '2001:db8::1'];
const authority = createAuthority({ days: 100, now });
const serving = issueServing(authority, { names, days: 90, now });
const leaf = new X509Certificate(serving.certificate);

test('the extensions of a serving certificate are those of a TLS server, and of nothing else', () => {
  const extensions = extensionsOf(serving.certificate);
  const critical = Object.keys(extensions).filter((name) => extensions[name]?.critical);
  assert.deepEqual(critical.sort(), ['basicConstraints', 'keyUsage']);
  assert.equal(extensions.basicConstraints?.cA, false);
  assert.equal(leaf.ca, false);
  const uses = Object.entries(extensions.keyUsage ?? {}).filter(([, value]) => value === true);
  assert.deepEqual(uses.map(([use]) => use).sort(), ['critical', 'digitalSignature']);
  assert.deepEqual(
    leaf.keyUsage,
    ['1.3.6.1.5.5.7.3.1'],
    'extKeyUsage, which Node calls keyUsage: serverAuth',
  );
  assert.match(String(extensions.subjectKeyIdentifier?.subjectKeyIdentifier), /^[0-9a-f]{40}$/);
});

test('its authorityKeyIdentifier is the subjectKeyIdentifier of the authority', () => {
  const own = extensionsOf(authority.certificate).subjectKeyIdentifier?.subjectKeyIdentifier;
  const { value } = extensionsOf(serving.certificate).authorityKeyIdentifier ?? {};
  // SEQUENCE of 22 bytes, [0] of 20 (RFC 5280, 4.2.1.1).
  assert.equal(Buffer.from(String(value), 'latin1').toString('hex'), `30168014${own}`);
  assert.notEqual(leaf.serialNumber, new X509Certificate(authority.certificate).serialNumber);
});

test('it lasts the asked days, and what is said of its period is what it says', () => {
  assert.equal(serving.notBefore.toISOString(), '2030-01-01T11:55:00.000Z');
  assert.equal(serving.notAfter.toISOString(), '2030-04-01T12:00:00.000Z');
  assert.deepEqual([leaf.validFromDate, leaf.validToDate], [serving.notBefore, serving.notAfter]);
});

test('it never outlives its authority', () => {
  const capped = issueServing(authority, { names, days: 101, now });
  assert.equal(capped.notAfter.toISOString(), '2030-04-11T12:00:00.000Z');
  assert.deepEqual(new X509Certificate(capped.certificate).validToDate, capped.notAfter);
});

test('an authority that cannot sign is refused', () => {
  const issue = (signer: Authority, at = now) => issueServing(signer, { names, days: 1, now: at });
  const late = new Date('2031-01-01T00:00:00Z');
  assert.throws(() => issue(authority, late), refusal('CNI_GATE_TLS_PAIR', /in force from/));
  assert.throws(() => issue(serving), refusal('CNI_GATE_TLS_PAIR', /^The authority cannot sign: /));
  assert.throws(() => issue(rsaAuthority(now)), refusal('CNI_GATE_TLS_PAIR', /^The authority cannot sign: /));
});

/** The names of a certificate that is issued for these. */
function issuedFor(names: string[]): string[] {
  const { certificate } = issueServing(authority, { names, days: 1, now });
  return namesIn(new X509Certificate(certificate).subjectAltName);
}

test('DNS names and addresses are spelled in one way, and kept once', () => {
  const names = ['CNI-gate.ns.svc', 'cni-gate.ns.svc', 'localhost', '192.0.2.1', '2001:DB8:0::1'];
  assert.deepEqual(issuedFor([...names, '::ffff:192.0.2.1']), [
    ...['cni-gate.ns.svc', 'localhost', '192.0.2.1', '2001:db8::1'],
    '::ffff:c000:201',
  ]);
});

test('names up to the limits of DNS are taken', () => {
  const longest = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(61)}`;
  assert.equal(longest.length, 253);
  assert.deepEqual(issuedFor([longest]), [longest]);
});

test('a name that is neither a DNS name nor an address is refused', () => {
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
    ...[`${'a'.repeat(64)}.svc`, `${'a.'.repeat(126)}ab`, 'cni-gate.svc\n', 'cni-gate.svc:8443'],
    ...['192.0.2.256', '192.0.2', '192.0.2.0/24', 'fe80::1%eth0', '[::1]'],
  ];
  for (const name of wrong) {
    assert.throws(
      () => issuedFor(['localhost', name]),
      (error: Error) =>
        error.message.includes(JSON.stringify(name)) && refusal('CNI_GATE_USAGE', /is neither/)(error),
    );
  }
});

test('names are read from the line that Node gives, without those of other kinds', () => {
  const line =
    'DNS:a.example, IP Address:192.0.2.1, URI:https://c.example, IP Address:2001:DB8:0:0:0:0:0:1, DNS:d';
  assert.deepEqual(namesIn(line), ['a.example', '192.0.2.1', '2001:db8::1', 'd']);
  assert.deepEqual(namesIn(undefined), []);
});

test('a value with a comma in it does not pass itself off as a further name', () => {
  assert.deepEqual(namesIn('URI:"x, DNS:evil.example", DNS:"b, \\"DNS:evil.example", DNS:a'), [
    'b, "DNS:evil.example',
    'a',
  ]);
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
