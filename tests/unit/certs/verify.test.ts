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

function refused(certificate: string, key: string, code: 'UNREADABLE' | 'PAIR', message: RegExp, at = now) {
  assert.throws(() => checkPair(certificate, key, at), refusal(`CNI_GATE_TLS_${code}`, message));
}

test('of a chain the first certificate counts', () => {
  const facts = checkPair(serving.certificate + authority.certificate, serving.key, now);
  assert.deepEqual(facts.names, ['a.svc', '192.0.2.1']);
  const turned = authority.certificate + serving.certificate;
  refused(turned, serving.key, 'PAIR', /belongs to certificate 2 of 2 .* must come first/);
});

test('certificate and key may lie in one file, with text between', () => {
  const both = `Bag Attributes\n${serving.key}issuer=x\n${serving.certificate}`;
  assert.deepEqual(checkPair(both, both, now).notAfter, serving.notAfter);
});

test('an EC key with its certificate is fine, with the parameters that openssl writes before it as well', () => {
  const pkcs8 = createPrivateKey(serving.key).export({ type: 'pkcs8', format: 'pem' }) as string;
  const parameters = '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';
  for (const pem of [serving.key, pkcs8, parameters + serving.key]) checkPair(serving.certificate, pem, now);
});

test('a key of another certificate is refused', () => {
  refused(serving.certificate, authority.key, 'PAIR', /kind EC prime256v1, .* kind EC prime256v1/);
});

test('an EC key with an RSA certificate is refused, which a TLS server would take', () => {
  refused(serving.certificate, rsa.key, 'PAIR', /kind EC prime256v1, .* kind RSA 2048/);
  refused(rsa.certificate, serving.key, 'PAIR', /kind RSA 2048, .* kind EC prime256v1/);
});

test('a certificate is in force from its first second to its last', () => {
  checkPair(serving.certificate, serving.key, serving.notBefore);
  checkPair(serving.certificate, serving.key, serving.notAfter);
  const dates = '2030-01-01T11:55:00.000Z to 2030-04-01T12:00:00.000Z';
  const early = new Date(serving.notBefore.getTime() - 1);
  const from = new RegExp(`in force from ${dates}, and the clock says 2030-01-01T11:54:59.999Z`);
  refused(serving.certificate, serving.key, 'PAIR', from, early);
  const late = new Date(serving.notAfter.getTime() + 1);
  const to = new RegExp(`in force from ${dates}, and the clock says 2030-04-01T12:00:00.001Z`);
  refused(serving.certificate, serving.key, 'PAIR', to, late);
});

test('a certificate or key that is cut off is refused, also the last of a chain', () => {
  for (let length = 0; length < serving.certificate.length - 1; length += 7) {
    refused(serving.certificate.slice(0, length), serving.key, 'UNREADABLE', /^The certificate must be/);
  }
  for (let length = 0; length < serving.key.length - 1; length += 7) {
    refused(serving.certificate, serving.key.slice(0, length), 'UNREADABLE', /^The key must be/);
  }
  const cut = serving.certificate + authority.certificate.slice(0, 300);
  refused(cut, serving.key, 'UNREADABLE', /found were 1, and CERTIFICATE, CERTIFICATE/);
});

test('PEM that lost lines in the middle is refused, and the message says which certificate', () => {
  const without = (pem: string) => pem.split('\n').toSpliced(2, 1).join('\n');
  const chain = serving.certificate + without(authority.certificate);
  refused(chain, serving.key, 'UNREADABLE', /^Certificate 2 of 2 is PEM, but cannot be decoded/);
  refused(serving.certificate, without(serving.key), 'UNREADABLE', /^The key is PEM, but cannot be decoded/);
});

test('a text without the right kind of block is refused, and the message names what it has', () => {
  refused('', serving.key, 'UNREADABLE', /certificate must be.*no PEM block at all/);
  refused(serving.key, serving.key, 'UNREADABLE', /EC PRIVATE KEY\.$/);
  refused(serving.certificate, serving.certificate, 'UNREADABLE', /key must be.*found was CERTIFICATE\.$/);
});

test('encrypted keys are refused in both forms', () => {
  const key = createPrivateKey(serving.key);
  const secret = { format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' } as const;
  const pkcs8 = key.export({ type: 'pkcs8', ...secret }) as string;
  const sec1 = key.export({ type: 'sec1', ...secret }) as string;
  refused(serving.certificate, pkcs8, 'UNREADABLE', /key is encrypted/);
  refused(serving.certificate, sec1, 'UNREADABLE', /key is encrypted/);
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
