import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { suite, test } from 'node:test';
import {
  type Authority,
  createAuthority,
  encodeCommonName,
  generateKey,
  issuerFields,
  issueServing,
  signCertificate,
} from '../../../certs/issue.ts';
import { checkPair, verifyChain } from '../../../certs/verify.ts';
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

/** A certificate that an authority signs, with its key. */
function signedBy(above: Authority, commonName: string, days: number, extensions: object[]): Authority {
  const { publicKey, privateKey } = generateKey();
  const { name: issuer } = issuerFields(new X509Certificate(above.certificate).raw);
  const period = { notBefore: now, notAfter: later(days) };
  const fields = { subject: encodeCommonName(commonName), publicKey, period, extensions, issuer };
  return { certificate: signCertificate(fields, above.key), key: privateKey };
}

const authorityExtensions = [
  { name: 'basicConstraints', cA: true, critical: true },
  { name: 'keyUsage', keyCertSign: true, critical: true },
];
const upper = signedBy(signer, 'upper', 9, authorityExtensions);
const lower = signedBy(upper, 'lower', 9, authorityExtensions);
const { certificate: deep } = issueServing(lower, { names: [host], days: 5, now });
const old = createAuthority({ days: 3, now });
const outliving = signedBy(old, host, 5, [{ name: 'subjectAltName', altNames: [{ type: 2, value: host }] }]);

const none = /signed by no authority of the caBundle/;
const cases: [
  what: string,
  chain: string,
  bundle: string | undefined,
  why?: RegExp | undefined,
  at?: Date,
][] = [
  ['by the authority that signed it', leaf, signer.certificate],
  ['by one among others', leaf, stranger.certificate + signer.certificate],
  ['where it is in the bundle itself', leaf, leaf],
  ['over intermediates in one order', deep + lower.certificate + upper.certificate, signer.certificate],
  ['over intermediates in the other order', deep + upper.certificate + lower.certificate, signer.certificate],
  ['over an intermediate in the bundle', deep, lower.certificate],
  ['while its authority is valid', outliving.certificate, old.certificate, undefined, later(2)],
  ['not without its intermediates', deep, signer.certificate, none],
  ['not without a caBundle', leaf, undefined, /^there is no caBundle$/],
  ['not with an empty one', leaf, ' \n', /^there is no caBundle$/],
  ['not with one that is no PEM', leaf, 'hello', /^the caBundle cannot be read: /],
  ['not by a stranger of the same name', leaf, stranger.certificate, none],
  ['not where there is none', '', signer.certificate, /^the certificate cannot be read: /],
  ['not when it has expired', leaf, signer.certificate, /in force from .* only$/, later(6)],
  ['not before it is in force', leaf, signer.certificate, /in force from .* only$/, later(-1)],
  [
    'not when its authority has expired',
    outliving.certificate,
    old.certificate,
    /no authority .* in force/,
    later(4),
  ],
];
suite('a certificate is accepted', () => {
  for (const [what, chain, bundle, why, at = now] of cases)
    test(what, () => {
      const fault = verifyChain(chain, bundle, host, at);
      if (why) assert.match(fault ?? 'accepted', why);
      else assert.equal(fault, undefined);
    });

  test('not by another name, and by any where none is given', () => {
    const why = verifyChain(leaf, signer.certificate, 'other.cni-gate.svc', now);
    assert.equal(why, `the certificate is for ${host}, not for other.cni-gate.svc`);
    assert.equal(verifyChain(signer.certificate, signer.certificate, undefined, now), undefined);
  });
});
