import type { KeyObject, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { CniGateError } from '../webhook/lib/errors.ts';
import { namesIn } from './names.ts';
import { orUnreadable, readCertificates, readKey } from './pem.ts';

/** What is known of a certificate that passed {@link checkPair}. */
export interface PairFacts {
  /** The period in which it is in force, both ends included. */
  notBefore: Date;
  notAfter: Date;
  /**
   * The DNS names and IP addresses it is for. The common name is left out: an API server does not look at it, and
   * refuses a certificate whose list is empty.
   */
  names: string[];
  /** SHA-256 of the certificate: 32 pairs of capital hexadecimal digits with colons between, as openssl prints it. */
  fingerprint: string;
}

/**
 * Checks a certificate and a key before they are served. A TLS server takes an EC key with an RSA certificate
 * without a word and then fails every handshake, so this has to come first.
 *
 * @param certificatePem the certificate of the server; those of its issuers may follow it
 * @param keyPem its private key, not encrypted: RSA, EC or Ed25519, PKCS#8 or the older forms
 * @param now the time at which the certificate must be in force
 * @throws CniGateError CNI_GATE_TLS_UNREADABLE where either is not whole PEM, cannot be decoded, is encrypted, or
 *   is too weak for OpenSSL; CNI_GATE_TLS_PAIR where they do not belong together or the certificate is not in force
 */
export function checkPair(certificatePem: string, keyPem: string, now: Date): PairFacts {
  const chain = readCertificates(certificatePem);
  const key = readKey(keyPem);
  const leaf = chain[0];
  checkBelongs(leaf, chain, key);
  checkInForce(leaf, now);
  orUnreadable('OpenSSL refuses to serve the certificate with the key', () =>
    createSecureContext({ cert: certificatePem, key: keyPem }),
  );
  return {
    notBefore: leaf.validFromDate,
    notAfter: leaf.validToDate,
    names: namesIn(leaf.subjectAltName),
    fingerprint: leaf.fingerprint256,
  };
}

function checkBelongs(leaf: X509Certificate, chain: X509Certificate[], key: KeyObject): void {
  if (leaf.checkPrivateKey(key)) return;
  const owner = chain.findIndex((certificate) => certificate.checkPrivateKey(key)) + 1;
  const [wanted, given] = [kindOf(leaf.publicKey), kindOf(key)];
  const hint =
    owner > 0
      ? `It belongs to certificate ${owner} of ${chain.length} in the chain: the server's own must come first.`
      : wanted === given
        ? `Both are ${given}, yet no pair: was only one of the two replaced?`
        : `The certificate is for a key of kind ${wanted}, and the one given is of kind ${given}.`;
  throw new CniGateError('CNI_GATE_TLS_PAIR', `The key does not belong to the certificate. ${hint}`);
}

function checkInForce(leaf: X509Certificate, now: Date): void {
  const fault =
    now > leaf.validToDate ? 'has expired' : now < leaf.validFromDate ? 'is not yet valid' : undefined;
  if (fault === undefined) return;
  const [from, to, at] = [leaf.validFromDate, leaf.validToDate, now].map((date) => date.toISOString());
  throw new CniGateError(
    'CNI_GATE_TLS_PAIR',
    `The certificate ${fault}: it is in force from ${from} to ${to}, and the clock says ${at}.`,
  );
}

/** A key's kind in words: `RSA 2048`, `EC prime256v1`. */
function kindOf(key: KeyObject): string {
  const details = key.asymmetricKeyDetails;
  return `${key.asymmetricKeyType?.toUpperCase()} ${details?.modulusLength ?? details?.namedCurve ?? ''}`.trim();
}
