import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { suite, test } from 'node:test';
import { type Authority, createAuthority, issueServing } from '../../../certs/issue.ts';
import { checkPair, verifyChain } from '../../../certs/verify.ts';
import { encodeCommonName, generateKey, issuerFields, signCertificate } from '../../../certs/x509.ts';
import { CniGateError } from '../../../webhook/lib/errors.ts';
import { refusal, rsaAuthority } from './fixtures.ts';

const now = new Date('2030-01-01T12:00:00Z');
const rsa = rsaAuthority(now);
const authority = createAuthority({ days: 100, now });
const serving = issueServing(authority, { names: ['a.svc', '192.0.2.1'], days: 90, now });

const { notBefore, notAfter } = serving;
const periodOfServing = { notBefore, notAfter };

function refused(certificate: string, key: string, code: 'UNREADABLE' | 'PAIR', message: RegExp, at = now) {
  assert.throws(() => checkPair(certificate, key, at), refusal(`CNI_GATE_TLS_${code}`, message));
}

test('the form of certificate and key may be any that openssl writes, and the first of a chain counts', () => {
  const pkcs8 = createPrivateKey(serving.key).export({ type: 'pkcs8', format: 'pem' }) as string;
  const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';
  for (const key of [serving.key, pkcs8, parameters + serving.key]) {
    const facts = checkPair(serving.certificate + authority.certificate, key, now);
    assert.deepEqual(facts, { ...periodOfServing, names: ['a.svc', '192.0.2.1'] });
  }
  const both = `Bag Attributes\n${serving.key}issuer=x\n${serving.certificate}`;
  checkPair(both, both, now);
});

test('a key of another certificate is refused, which a TLS server would take', () => {
  const { certificate, key } = serving;
  refused(authority.certificate + certificate, key, 'PAIR', /own certificate must come first/);
  refused(certificate, rsa.key, 'PAIR', /kind rsa, does not belong .* a key of kind ec/);
  refused(rsa.certificate, key, 'PAIR', /kind ec, does not belong .* a key of kind rsa/);
});

test('a certificate is in force from its first second to its last', () => {
  const { certificate, key, notBefore, notAfter } = serving;
  for (const at of [notBefore, notAfter]) checkPair(certificate, key, at);
  const dates = 'in force from 2030-01-01T11:55:00.000Z to 2030-04-01T12:00:00.000Z, and the clock says';
  refused(certificate, key, 'PAIR', new RegExp(`${dates} .*59.999Z`), new Date(notBefore.getTime() - 1));
  refused(certificate, key, 'PAIR', new RegExp(`${dates} .*00.001Z`), new Date(notAfter.getTime() + 1));
});

test('a certificate or key that is cut off is refused, also the last of a chain', () => {
  const { certificate, key } = serving;
  for (let length = 0; length < certificate.length - 1; length += 7)
    refused(certificate.slice(0, length), key, 'UNREADABLE', /^The certificate must be/);
  for (let length = 0; length < key.length - 1; length += 7)
    refused(certificate, key.slice(0, length), 'UNREADABLE', /^The key must be/);
  const cut = certificate + authority.certificate.slice(0, 300);
  refused(cut, key, 'UNREADABLE', /found were 1/);
});

test('what is no whole PEM, damaged or encrypted is refused', () => {
  const { certificate, key } = serving;
  const without = (pem: string) => pem.split('\n').toSpliced(2, 1).join('\n');
  const secret = { format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' } as const;
  const encrypted = (['pkcs8', 'sec1'] as const).map((type) =>
    createPrivateKey(key).export({ type, ...secret }),
  );
  const damaged = certificate + without(authority.certificate);
  refused(damaged, key, 'UNREADABLE', /is PEM, but cannot be decoded/);
  for (const one of ['', key]) refused(one, key, 'UNREADABLE', /^The certificate must be/);
  for (const one of ['', certificate, without(key), ...encrypted])
    refused(certificate, String(one), 'UNREADABLE', /^The key must be .* without a passphrase/);
});

test('a key that OpenSSL finds too weak to serve with is refused', () => {
  const { certificate, key } = rsaAuthority(now, 1024);
  refused(certificate, key, 'UNREADABLE', /OpenSSL refuses to serve.*key too small/);
});

test('a damaged certificate ends in an error for the operator, wherever the damage is', () => {
  const outcomes = new Set<string>();
  const bytes = [serving, rsa].flatMap(({ certificate, key }) => {
    const der = new X509Certificate(certificate).raw;
    return [...der.entries()].map(([at, byte]) => ({ der, key, at, byte }));
  });
  for (const { der, key, at, byte } of bytes) {
    const damaged = Buffer.from(der);
    damaged.writeUInt8(byte ^ 0x80, at);
    const pem = `-----BEGIN CERTIFICATE-----\n${damaged.toString('base64')}\n-----END CERTIFICATE-----\n`;
    try {
      const { notAfter } = checkPair(pem, key, now);
      assert.ok(notAfter.getTime() > 0, 'a certificate without a date was taken');
    } catch (error) {
      assert.ok(error instanceof CniGateError, `byte ${at}: ${error}`);
      outcomes.add(error.code);
    }
  }
  assert.deepEqual([...outcomes].sort(), ['CNI_GATE_TLS_PAIR', 'CNI_GATE_TLS_UNREADABLE']);
});

const day = 86_400_000;
const host = 'cni-gate.cni-gate.svc';
const later = (days: number): Date => new Date(now.getTime() + days * day);

const signer = createAuthority({ days: 10, now });
// of the same name: only the key tells them apart
const stranger = createAuthority({ days: 10, now });
const { certificate: leaf } = issueServing(signer, { names: [host], days: 5, now });

/** An authority that another one signed. */
function intermediate(above: Authority, commonName: string): Authority {
  const { publicKey, privateKey } = generateKey();
  const certificate = signCertificate(
    {
      subject: encodeCommonName(commonName),
      publicKey,
      period: { notBefore: now, notAfter: later(9) },
      extensions: [
        { name: 'basicConstraints', cA: true, critical: true },
        { name: 'keyUsage', keyCertSign: true, critical: true },
      ],
      issuer: issuerFields(new X509Certificate(above.certificate).raw).name,
    },
    above.key,
  );
  return { certificate, key: privateKey };
}

suite('a certificate is accepted', () => {
  const accepted = (chain: string, bundle: string): void =>
    assert.equal(verifyChain(chain, bundle, host, now), undefined);

  test('by the authority that signed it, also among others, and where it is in the bundle itself', () => {
    accepted(leaf, signer.certificate);
    accepted(leaf, stranger.certificate + signer.certificate);
    accepted(leaf, leaf);
  });

  test('where it is an authority of the bundle, whatever its name', () => {
    const why = (bundle: string) => verifyChain(signer.certificate, bundle, undefined, now);
    assert.equal(why(stranger.certificate + signer.certificate), undefined);
    assert.equal(why(stranger.certificate), 'it is signed by no authority of the caBundle');
  });

  test('over intermediate authorities that are sent along, in any order, or that are in the bundle', () => {
    const upper = intermediate(signer, 'upper');
    const lower = intermediate(upper, 'lower');
    const { certificate } = issueServing(lower, { names: [host], days: 5, now });
    accepted(certificate + lower.certificate + upper.certificate, signer.certificate);
    accepted(certificate + upper.certificate + lower.certificate, signer.certificate);
    accepted(certificate, lower.certificate);
    assert.match(
      verifyChain(certificate, signer.certificate, host, now) ?? '',
      /signed by no authority of the caBundle/,
    );
  });
});

suite('it is not accepted, and why', () => {
  const cases: Record<string, [chain: string, bundle: string | undefined, at: Date, RegExp]> = {
    'no caBundle': [leaf, undefined, now, /^there is no caBundle$/],
    'an empty one': [leaf, ' \n', now, /^there is no caBundle$/],
    'one that is no PEM': [leaf, 'hello', now, /^the caBundle cannot be read: /],
    'a stranger of the same name': [leaf, stranger.certificate, now, /signed by no authority/],
    'no certificate': ['', signer.certificate, now, /^the certificate cannot be read: /],
    'a certificate that has expired': [leaf, signer.certificate, later(6), /in force from .* only$/],
    'one that is not yet in force': [leaf, signer.certificate, later(-1), /in force from .* only$/],
  };
  for (const [name, [chain, bundle, at, why]] of Object.entries(cases)) {
    test(name, () => assert.match(verifyChain(chain, bundle, host, at) ?? '', why));
  }

  test('another name', () => {
    const why = verifyChain(leaf, signer.certificate, 'other.cni-gate.svc', now);
    assert.equal(why, `the certificate is for ${host}, not for other.cni-gate.svc`);
  });

  test('an authority that has expired while what it signed has not', () => {
    const old = createAuthority({ days: 3, now });
    const { publicKey } = generateKey();
    const certificate = signCertificate(
      {
        subject: encodeCommonName(host),
        publicKey,
        period: { notBefore: now, notAfter: later(5) },
        extensions: [{ name: 'subjectAltName', altNames: [{ type: 2, value: host }] }],
        issuer: issuerFields(new X509Certificate(old.certificate).raw).name,
      },
      old.key,
    );
    assert.equal(verifyChain(certificate, old.certificate, host, later(2)), undefined);
    assert.equal(
      verifyChain(certificate, old.certificate, host, later(4)),
      'no authority of the caBundle is in force',
    );
  });
});
