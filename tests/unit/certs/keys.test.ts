import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { test } from 'node:test';
import { generateKey } from '../../../certs/keys.ts';

test('a key is RSA-2048, in PKCS#8 and SPKI, made without holding the event loop', async () => {
  let turned = false;
  setImmediate(() => {
    turned = true;
  });
  const { privateKey, publicKey } = await generateKey();

  assert.ok(turned, 'the event loop did not turn while the key was made');
  assert.match(privateKey, /^-----BEGIN PRIVATE KEY-----\n/);
  assert.match(publicKey, /^-----BEGIN PUBLIC KEY-----\n/);
  const key = createPrivateKey(privateKey);
  assert.equal(key.asymmetricKeyType, 'rsa');
  assert.deepEqual(key.asymmetricKeyDetails, { modulusLength: 2048, publicExponent: 65537n });
  assert.ok(createPublicKey(privateKey).equals(createPublicKey(publicKey)));
});
