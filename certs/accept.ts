import type { X509Certificate } from 'node:crypto';
import { CniGateError } from '../webhook/lib/errors.ts';
import { namesIn } from './names.ts';
import { readCertificates } from './pem.ts';

/**
 * Why a TLS client that trusts `bundle` and nobody else does not accept a server's certificate; undefined where it
 * does. As Go's `crypto/x509` verifies, which is what the API server calls webhooks by: every certificate of the
 * bundle is trusted, also one that is no authority's or not self-signed, and one that is not in force counts nothing.
 *
 * @param chain PEM: the server's certificate, then those of its issuers that it sends along
 * @param bundle PEM; undefined or empty where there is none
 * @param host the name by which the server is called; undefined where it may have any, as an authority's
 * @param now the time at which all of it must be in force
 */
export function whyNotAccepted(
  chain: string,
  bundle: string | undefined,
  host: string | undefined,
  now: Date,
): string | undefined {
  if (!bundle?.trim()) return 'there is no caBundle';
  const served = read(chain);
  if (typeof served === 'string') return `the certificate cannot be read: ${served}`;
  const trusted = read(bundle);
  if (typeof trusted === 'string') return `the caBundle cannot be read: ${trusted}`;
  const [leaf, ...issuers] = served;
  if (leaf === undefined) return 'there is no certificate';
  if (!inForce(leaf, now)) {
    const period = `from ${leaf.validFromDate.toISOString()} to ${leaf.validToDate.toISOString()}`;
    return `the certificate is in force ${period} only`;
  }
  if (host !== undefined && leaf.checkHost(host, { subject: 'never' }) === undefined) {
    const names = namesIn(leaf.subjectAltName).join(', ') || 'no name';
    return `the certificate is for ${names}, not for ${host}`;
  }
  const roots = trusted.filter((root) => inForce(root, now));
  if (roots.length === 0) return 'no authority of the caBundle is in force';
  return leadsTo(
    leaf,
    issuers.filter((issuer) => inForce(issuer, now)),
    roots,
  )
    ? undefined
    : 'it is signed by no authority of the caBundle';
}

/** Whether a certificate is trusted itself, or signed by one that is, over those in between. */
function leadsTo(
  certificate: X509Certificate,
  between: readonly X509Certificate[],
  roots: readonly X509Certificate[],
): boolean {
  const trusted = roots.some(
    (root) => root.fingerprint256 === certificate.fingerprint256 || isIssuedBy(certificate, root),
  );
  // each is used once at most, so a ring of them ends
  return (
    trusted ||
    between.some(
      (issuer) =>
        isIssuedBy(certificate, issuer) &&
        leadsTo(
          issuer,
          between.filter((other) => other !== issuer),
          roots,
        ),
    )
  );
}

const isIssuedBy = (certificate: X509Certificate, issuer: X509Certificate): boolean =>
  certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);

const inForce = ({ validFromDate, validToDate }: X509Certificate, now: Date): boolean =>
  validFromDate <= now && now <= validToDate;

/** More than any chain has: what is in a Secret may be anything. */
const mostCertificates = 20;

/** The certificates, or why they cannot be read. */
function read(pem: string): X509Certificate[] | string {
  try {
    return readCertificates(pem).slice(0, mostCertificates);
  } catch (error) {
    if (error instanceof CniGateError) return error.message;
    throw error;
  }
}
