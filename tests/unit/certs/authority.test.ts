import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { before, test } from 'node:test';
import { type Authority, createAuthority } from '../../../certs/issue.ts';
import { checkPair } from '../../../certs/pair.ts';
import { extensionsOf, refusal, signatureAlgorithmOf } from './fixtures.ts';

const now = new Date('2030-01-01T12:00:00.900Z');
let authority: Authority;
let certificate: X509Certificate;

before(() => {
  authority = createAuthority({ commonName: 'cni-gate_Größe', days: 365 * 30, now });
  certificate = new X509Certificate(authority.certificate);
});

test('an authority is signed by itself with SHA-256, and its key is its own', () => {
  assert.equal(certificate.subject, 'CN=cni-gate_Größe');
  assert.ok(certificate.verify(certificate.publicKey));
  assert.ok(certificate.checkIssued(certificate));
  assert.ok(certificate.ca);
  // ecdsa-with-SHA256 (RFC 5758, 3.2)
  assert.equal(signatureAlgorithmOf(authority.certificate), '1.2.840.10045.4.3.2');
  checkPair(authority.certificate, authority.key, now);
});

test('an authority may sign certificates of servers, and authorities no more', () => {
  const extensions = extensionsOf(authority.certificate);
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
  assert.match(authority.certificate, /^-----BEGIN CERTIFICATE-----\n[^\r]*\n-----END CERTIFICATE-----\n$/);
});

test('a common name has from 1 to 64 characters, counted as characters', () => {
  const create = (commonName: string) => createAuthority({ commonName, days: 1, now });
  assert.throws(() => create(''), refusal('CNI_GATE_USAGE', /has 0\.$/));
  assert.throws(
    () => create('a'.repeat(65)),
    refusal('CNI_GATE_USAGE', /from 1 to 64 characters.*has 65\.$/),
  );
  const longest = '🔑'.repeat(64);
  assert.equal(new X509Certificate(create(longest).certificate).subject, `CN=${longest}`);
});

test('days out of range are refused', () => {
  const create = () => createAuthority({ commonName: 'cni-gate', days: 0, now });
  assert.throws(create, refusal('CNI_GATE_USAGE', /0 days/));
});
