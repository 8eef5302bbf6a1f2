import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { encodeCommonName, generateKey, signCertificate } from '../../../certs/x509.ts';

test('a key is EC on P-256, in SEC 1 and SPKI', () => {
  const { privateKey, publicKey } = generateKey();
  assert.match(privateKey, /^-----BEGIN EC PRIVATE KEY-----\n/);
  assert.match(publicKey, /^-----BEGIN PUBLIC KEY-----\n/);
  const key = createPrivateKey(privateKey);
  assert.equal(key.asymmetricKeyType, 'ec');
  assert.deepEqual(key.asymmetricKeyDetails, { namedCurve: 'prime256v1' });
  assert.ok(createPublicKey(privateKey).equals(createPublicKey(publicKey)));
});

test('serial numbers are random, positive, and of the same 128 bits', () => {
  const { publicKey, privateKey } = generateKey();
  const period = { notBefore: new Date('2030-01-01T00:00:00Z'), notAfter: new Date('2030-01-02T00:00:00Z') };
  const fields = { subject: encodeCommonName('cni-gate'), publicKey, period, extensions: [] };
  const made = Array.from({ length: 32 }, () => signCertificate(fields, privateKey));
  const serials = made.map((pem) => new X509Certificate(pem).serialNumber);

  assert.equal(new Set(serials).size, serials.length);
  for (const serial of serials) assert.match(serial, /^[4-7][0-9A-F]{31}$/);
});
