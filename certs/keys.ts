import { generateKeyPair } from 'node:crypto';
import { promisify } from 'node:util';

/** A key pair in PEM. */
export interface KeyPem {
  /** PKCS#8, not encrypted: `-----BEGIN PRIVATE KEY-----`. */
  privateKey: string;
  /** SubjectPublicKeyInfo: `-----BEGIN PUBLIC KEY-----`. */
  publicKey: string;
}

const generate = promisify(generateKeyPair);

/**
 * Makes an RSA key of 2048 bits, the one kind that node-forge can write certificates for. It is made off the
 * event loop, in about 100 ms: forge's own generator would hold up every admission call for a second.
 */
export async function generateKey(): Promise<KeyPem> {
  return generate('rsa', {
    modulusLength: 2048,
    publicExponent: 0x10001,
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
}
