import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { generateKey } from '../../../certs/keys.ts';
import { signCertificate } from '../../../certs/sign.ts';

test('serial numbers are random, positive, and of the same 128 bits', async () => {
  const { publicKey, privateKey } = await generateKey();
  const period = { notBefore: new Date('2030-01-01T00:00:00Z'), notAfter: new Date('2030-01-02T00:00:00Z') };
  const draft = { commonName: 'cni-gate', publicKey, period, extensions: [] };
  const made = await Promise.all(Array.from({ length: 32 }, () => signCertificate(draft, privateKey)));
  const serials = made.map((pem) => new X509Certificate(pem).serialNumber);

  assert.equal(new Set(serials).size, serials.length);
  for (const serial of serials) assert.match(serial, /^[4-7][0-9A-F]{31}$/);
});
