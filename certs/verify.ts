import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { CniGateError, messageOf } from '../webhook/lib/errors.ts';

/** A certificate's period of validity, which includes both dates (RFC 5280, 4.1.2.5). */
export interface Period {
  notBefore: Date;
  notAfter: Date;
}

export function inForce({ notBefore, notAfter }: Period, now: Date): boolean {
  return now >= notBefore && now <= notAfter;
}

/**
 * Whether two thirds of a certificate's lifetime are over. This is also cert-manager's default time for a renewal. The
 * last third leaves time to repeat a failed renewal.
 */
export function renewalDue({ notBefore, notAfter }: Period, now: Date): boolean {
  // multiplied instead of divided, so that nothing is rounded at the boundary
  return (now.getTime() - notBefore.getTime()) * 3 >= (notAfter.getTime() - notBefore.getTime()) * 2;
}

export const periodOf = ({ validFromDate, validToDate }: X509Certificate): Period => ({
  notBefore: validFromDate,
  notAfter: validToDate,
});

/**
 * The certificates of a PEM text, in order; all other text is ignored.
 * @throws CniGateError CNI_GATE_TLS_UNREADABLE if there is no certificate, or one is cut off or cannot be decoded
 */
export function readCertificates(pem: string): [X509Certificate, ...X509Certificate[]] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  const what = 'A certificate is PEM, but cannot be decoded';
  const [leaf, ...issuers] = blocks.map((block) => orUnreadable(what, () => decode(block)));
  // false while a file is still being written: an incomplete block has a BEGIN line, but does not match
  if (leaf && pem.split('-----BEGIN CERTIFICATE').length === blocks.length + 1) return [leaf, ...issuers];
  const message = `The certificate must be whole PEM blocks from -----BEGIN CERTIFICATE----- to -----END CERTIFICATE-----; found were ${blocks.length}.`;
  throw new CniGateError('CNI_GATE_TLS_UNREADABLE', message);
}

/**
 * Checks that a certificate and a key can be served together. A TLS server would accept an EC key with an RSA
 * certificate, and then fail every handshake. No message contains a part of the key.
 * @param certificatePem a chain that begins with the server's certificate
 * @param now when the certificate has to be valid; undefined for any time
 * @throws CniGateError CNI_GATE_TLS_UNREADABLE or CNI_GATE_TLS_PAIR
 */
export function checkPair(certificatePem: string, keyPem: string, now: Date | undefined): Period {
  const [leaf] = readCertificates(certificatePem);
  const key = orUnreadable('The key must be a whole private key in PEM, without a passphrase', () =>
    createPrivateKey(keyPem),
  );
  if (!leaf.checkPrivateKey(key)) {
    const message = `The key, of kind ${key.asymmetricKeyType}, does not belong to the certificate, which is for a key of kind ${leaf.publicKey.asymmetricKeyType}. Of a chain, the server's own certificate must come first.`;
    throw new CniGateError('CNI_GATE_TLS_PAIR', message);
  }
  const period = periodOf(leaf);
  if (now && !inForce(period, now)) {
    const message = `The certificate is in force ${textOf(period)}, and the clock says ${now.toISOString()}.`;
    throw new CniGateError('CNI_GATE_TLS_PAIR', message);
  }
  orUnreadable('OpenSSL refuses to serve the certificate with the key', () =>
    createSecureContext({ cert: certificatePem, key: keyPem }),
  );
  return period;
}

/**
 * Why a TLS client that trusts only `bundle` rejects a server's certificate; undefined if the client accepts it. As in
 * Go's `crypto/x509`, all certificates of the bundle are trusted, even one that does not belong to an authority.
 * @param chain certificates in PEM, beginning with the server's
 * @param host the name that the certificate must have; undefined for any name
 */
export function verifyChain(
  chain: string,
  bundle: string | undefined,
  host: string | undefined,
  now: Date,
): string | undefined {
  if (!bundle?.trim()) return 'there is no caBundle';
  const [served, trusted] = [chain, bundle].map(tryRead);
  if (!Array.isArray(served)) return `the certificate cannot be read: ${served}`;
  if (!Array.isArray(trusted)) return `the caBundle cannot be read: ${trusted}`;
  const [leaf, ...issuers] = served;
  if (!inForce(periodOf(leaf), now)) return `the certificate is in force ${textOf(periodOf(leaf))} only`;
  if (host !== undefined && leaf.checkHost(host, { subject: 'never' }) === undefined)
    return `the certificate is for ${leaf.subjectAltName ?? 'no name'}, not for ${host}`;
  const [roots, between] = [trusted, issuers].map((all) =>
    all.filter((each) => inForce(periodOf(each), now)),
  );
  if (!roots?.length) return 'no authority of the caBundle is in force';
  // the loop also visits the issuers that it adds to this set
  const chained = new Set([leaf]);
  for (const each of chained) {
    if (roots.some((root) => root.fingerprint256 === each.fingerprint256 || isIssued(each, root)))
      return undefined;
    for (const issuer of between ?? []) if (isIssued(each, issuer)) chained.add(issuer);
  }
  return 'it is signed by no authority of the caBundle';
}

const isIssued = (certificate: X509Certificate, issuer: X509Certificate): boolean =>
  certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);

function tryRead(pem: string): ReturnType<typeof readCertificates> | string {
  try {
    return readCertificates(pem);
  } catch (error) {
    return messageOf(error);
  }
}

/** Node.js decodes key and dates only on access. Then a bad key throws, but a bad date passes as valid. */
function decode(text: string): X509Certificate {
  const certificate = new X509Certificate(text);
  const { publicKey, validFromDate, validToDate } = certificate;
  if (!publicKey || Number.isNaN(validFromDate.getTime() + validToDate.getTime())) {
    throw new Error('its key or its dates have no valid form');
  }
  return certificate;
}

const textOf = ({ notBefore, notAfter }: Period): string =>
  `from ${notBefore.toISOString()} to ${notAfter.toISOString()}`;

function orUnreadable<Result>(what: string, parse: () => Result): Result {
  try {
    return parse();
  } catch (error) {
    throw new CniGateError('CNI_GATE_TLS_UNREADABLE', `${what} (${messageOf(error)}).`, { cause: error });
  }
}
