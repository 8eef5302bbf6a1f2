import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { before, test } from 'node:test';
import {
  type Authority,
  createAuthority,
  issueServing,
  type ServingCertificate,
} from '../../../certs/issue.ts';
import { checkPair } from '../../../certs/pair.ts';
import { CniGateError } from '../../../webhook/lib/errors.ts';
import { refusal, rsaAuthority } from './fixtures.ts';

const now = new Date('2030-01-01T12:00:00Z');
const rsa = rsaAuthority(now);
let authority: Authority;
let serving: ServingCertificate;

before(() => {
  authority = createAuthority({ commonName: 'cni-gate', days: 100, now });
  serving = issueServing(authority, { names: ['a.svc', '192.0.2.1'], days: 90, now });
});

function refused(certificate: string, key: string, code: 'UNREADABLE' | 'PAIR', message: RegExp, at = now) {
  assert.throws(() => checkPair(certificate, key, at), refusal(`CNI_GATE_TLS_${code}`, message));
}

test('a pair that fits is described', () => {
  assert.deepEqual(checkPair(serving.certificate, serving.key, now), {
    notBefore: serving.notBefore,
    notAfter: serving.notAfter,
    names: ['a.svc', '192.0.2.1'],
    fingerprint: new X509Certificate(serving.certificate).fingerprint256,
  });
});

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
  refused(serving.certificate, authority.key, 'PAIR', /Both are EC prime256v1, yet no pair/);
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
  const from = new RegExp(`not yet valid: .*${dates}, and the clock says 2030-01-01T11:54:59.999Z`);
  refused(serving.certificate, serving.key, 'PAIR', from, early);
  const late = new Date(serving.notAfter.getTime() + 1);
  const to = new RegExp(`has expired: .*${dates}, and the clock says 2030-04-01T12:00:00.001Z`);
  refused(serving.certificate, serving.key, 'PAIR', to, late);
});

test('a certificate or key cut off anywhere is refused as unreadable', () => {
  // Only the last line feed may be missing.
  for (let length = 0; length < serving.certificate.length - 1; length += 1) {
    refused(
      serving.certificate.slice(0, length),
      serving.key,
      'UNREADABLE',
      /^The certificate (is not whole|must be) PEM/,
    );
  }
  for (let length = 0; length < serving.key.length - 1; length += 1) {
    refused(
      serving.certificate,
      serving.key.slice(0, length),
      'UNREADABLE',
      /^The key (is not whole|must be) PEM/,
    );
  }
});

test('a chain cut off in its second certificate is refused', () => {
  const cut = serving.certificate + authority.certificate.slice(0, 300);
  refused(cut, serving.key, 'UNREADABLE', /not whole PEM/);
});

test('PEM that lost lines in the middle is refused, and the message says which certificate', () => {
  const without = (pem: string) => pem.split('\n').toSpliced(2, 1).join('\n');
  const chain = serving.certificate + without(authority.certificate);
  refused(chain, serving.key, 'UNREADABLE', /^Certificate 2 of 2 is PEM, but cannot be decoded/);
  refused(serving.certificate, without(serving.key), 'UNREADABLE', /^The key is PEM, but cannot be decoded/);
});

test('what is no PEM, or not of the right kind, is named', () => {
  refused('', serving.key, 'UNREADABLE', /certificate must be PEM.*no PEM block at all/);
  refused('\x30\x82\x01\x0a', serving.key, 'UNREADABLE', /no PEM block at all/);
  refused(serving.key, serving.key, 'UNREADABLE', /found was EC PRIVATE KEY\.$/);
  refused(
    serving.certificate,
    serving.certificate,
    'UNREADABLE',
    /key must be PEM.*found was CERTIFICATE\.$/,
  );
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
