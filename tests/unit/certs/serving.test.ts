import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { before, test } from 'node:test';
import {
  type Authority,
  createAuthority,
  issueServing,
  type ServingCertificate,
} from '../../../certs/issue.ts';
import { checkPair } from '../../../certs/pair.ts';
import { extensionsOf, refusal, rsaAuthority } from './fixtures.ts';

const now = new Date('2030-01-01T12:00:00Z');
const names = ['cni-gate.cni-gate.svc', '192.0.2.1', '2001:db8::1'];
let authority: Authority;
let serving: ServingCertificate;
let leaf: X509Certificate;

before(() => {
  // A name outside ASCII: forge would encode it a second time as issuer, and no client would find the issuer.
  authority = createAuthority({ commonName: 'Größe', days: 100, now });
  serving = issueServing(authority, { names, days: 90, now });
  leaf = new X509Certificate(serving.certificate);
});

test('a serving certificate is signed by its authority', () => {
  const issuer = new X509Certificate(authority.certificate);
  assert.ok(leaf.verify(issuer.publicKey));
  assert.ok(leaf.checkIssued(issuer));
  assert.equal(leaf.issuer, 'CN=Größe');
  assert.notEqual(leaf.serialNumber, issuer.serialNumber);
});

test('it is for the asked names, and its subject is the first', () => {
  assert.deepEqual(checkPair(serving.certificate, serving.key, now).names, names);
  assert.equal(leaf.checkIP('192.0.2.1'), '192.0.2.1');
  assert.equal(leaf.checkIP('2001:db8::1'), '2001:db8::1');
  assert.equal(leaf.checkIP('192.0.2.2'), undefined);
  assert.equal(leaf.subject, 'CN=cni-gate.cni-gate.svc');
});

test('its extensions are those of a TLS server, and of nothing else', () => {
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

test('each has a key and a serial number of its own', () => {
  const other = issueServing(authority, { names, days: 90, now });
  assert.notEqual(other.key, serving.key);
  assert.notEqual(new X509Certificate(other.certificate).serialNumber, leaf.serialNumber);
});

test('a first name of 64 characters is the common name; a longer one is left to the alternative names', () => {
  const fits = `${'a'.repeat(60)}.svc`;
  const short = issueServing(authority, { names: [fits], days: 1, now });
  assert.equal(new X509Certificate(short.certificate).subject, `CN=${fits}`);
  assert.equal(extensionsOf(short.certificate).subjectAltName?.critical, false);

  const tooLong = `${'a'.repeat(61)}.svc`;
  const long = issueServing(authority, { names: [tooLong, 'short.svc'], days: 1, now });
  // Node types say that the subject is a string; of an empty one it gives undefined or an empty string.
  assert.equal(new X509Certificate(long.certificate).subject || '', '');
  assert.equal(extensionsOf(long.certificate).subjectAltName?.critical, true);
  assert.deepEqual(checkPair(long.certificate, long.key, now).names, [tooLong, 'short.svc']);
});

test('names and days that cannot be used are refused', () => {
  const issue = (wrong: object) => issueServing(authority, { names, days: 1, now, ...wrong });
  assert.throws(() => issue({ names: ['cni_gate'] }), refusal('CNI_GATE_USAGE', /"cni_gate" is neither/));
  assert.throws(() => issue({ names: [] }), refusal('CNI_GATE_USAGE', /at least one name/));
  assert.throws(() => issue({ days: 0 }), refusal('CNI_GATE_USAGE', /0 days/));
});

test('an authority that cannot sign is refused, and the message says that it is the authority', () => {
  const issue = (signer: Authority, at = now) => issueServing(signer, { names, days: 1, now: at });
  const late = new Date('2031-01-01T00:00:00Z');
  assert.throws(() => issue(authority, late), refusal('CNI_GATE_TLS_PAIR', /^The authority .* has expired/));
  const mixed = { certificate: authority.certificate, key: serving.key };
  assert.throws(() => issue(mixed), refusal('CNI_GATE_TLS_PAIR', /^The authority .* does not belong/));
  const cut = { certificate: authority.certificate.slice(0, 300), key: authority.key };
  assert.throws(() => issue(cut), refusal('CNI_GATE_TLS_UNREADABLE', /^The authority .* not whole PEM/));
  assert.throws(() => issue(serving), refusal('CNI_GATE_TLS_PAIR', /^The authority .* no CA certificate/));
  assert.throws(
    () => issue(rsaAuthority(now)),
    refusal('CNI_GATE_TLS_PAIR', /^The authority .* of kind rsa\.$/),
  );
});
