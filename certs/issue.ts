import { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { CniGateError } from '../webhook/lib/errors.ts';
import { isObjectName } from '../webhook/lib/object-names.ts';
import { checkPair, type Period, usualAddress } from './verify.ts';
import { encodeCommonName, generateKey, issuerFields, signCertificate } from './x509.ts';

/** A certificate authority. */
export interface Authority {
  /** Its own certificate, PEM. Clients trust it: `caBundle` in base64. */
  certificate: string;
  /** Its private EC key, PEM. */
  key: string;
}

/** A certificate to serve TLS with, and its private EC key, in PEM. */
export interface ServingCertificate extends Authority, Period {}

/** How long a certificate is valid. */
interface Validity {
  /** Days from now; parts of a day are allowed. */
  days: number;
  /** The time of issue. */
  now: Date;
}

/** How far the clock of a client may be behind ours. */
const allowedSkewMs = 5 * 60_000;
const dayMs = 24 * 60 * 60_000;

/**
 * Creates an authority that signs its own certificate and those of servers, and no further authority. Its extensions
 * are those that RFC 5280 (4.2.1.2, 4.2.1.3, 4.2.1.9) requires of an authority.
 */
export function createAuthority({
  commonName = 'cni-gate',
  days,
  now,
}: Validity & { commonName?: string }): Authority {
  const { privateKey, publicKey } = generateKey();
  const extensions = [
    { name: 'basicConstraints', critical: true, cA: true, pathLenConstraint: 0 },
    { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true },
  ];
  const period = periodFrom(now, days);
  const fields = { subject: encodeCommonName(commonName), publicKey, period, extensions };
  return { certificate: signCertificate(fields, privateKey), key: privateKey };
}

/**
 * Creates a key and a certificate for a TLS server, and signs it with an authority (RFC 5280).
 *
 * @param names the DNS names and IP addresses that clients connect to, at least one
 * @param days it never outlives its authority
 * @throws CniGateError CNI_GATE_USAGE for a name that cannot be used; CNI_GATE_TLS_UNREADABLE or CNI_GATE_TLS_PAIR if
 *   the authority cannot sign: {@link checkPair} rejects it, or it is not an authority
 */
export function issueServing(
  authority: Authority,
  { names, days, now }: Validity & { names: readonly string[] },
): ServingCertificate {
  const altNames = [...new Set(names.map(usualName))].map(generalName);
  const within = checkPair(authority.certificate, authority.key, now);
  const signer = new X509Certificate(authority.certificate);
  const { name: issuer, keyIdentifier } = issuerFields(signer.raw);
  if (!signer.ca || signer.publicKey.asymmetricKeyType !== 'ec' || keyIdentifier === undefined) {
    const message = `The authority cannot sign: its certificate must be one of a CA, with an EC key and a subjectKeyIdentifier. It is that of ${signer.subject}.`;
    throw new CniGateError('CNI_GATE_TLS_PAIR', message);
  }
  const period = periodFrom(now, days, within);
  const { privateKey, publicKey } = generateKey();
  const extensions = [
    { name: 'basicConstraints', critical: true, cA: false },
    { name: 'keyUsage', critical: true, digitalSignature: true },
    { name: 'extKeyUsage', serverAuth: true },
    { name: 'subjectAltName', altNames },
    { name: 'authorityKeyIdentifier', keyIdentifier },
  ];
  // for people who read the certificate: clients look at the alternative names
  const subject = encodeCommonName('cni-gate server');
  const fields = { subject, issuer, publicKey, period, extensions };
  return { certificate: signCertificate(fields, authority.key), key: privateKey, ...period };
}

/**
 * The period of a certificate made now: it begins five minutes ago, for clocks that are behind, and ends `days`
 * from now. Both ends are cut to whole seconds, because a certificate knows no finer time.
 *
 * @param within the period of the authority that signs: clients refuse what outlives its authority
 */
export function periodFrom(now: Date, days: number, within?: Period): Period {
  const start = wholeSeconds(now.getTime() - allowedSkewMs);
  const end = wholeSeconds(now.getTime() + days * dayMs);
  return {
    notBefore: new Date(Math.max(start, within?.notBefore.getTime() ?? start)),
    notAfter: new Date(Math.min(end, within?.notAfter.getTime() ?? end)),
  };
}

const wholeSeconds = (ms: number): number => Math.floor(ms / 1000) * 1000;

/**
 * A name in one spelling: lower case, IPv6 in its shortest form.
 *
 * @param name a DNS name, an IPv4 or IPv6 address. Wildcards are refused: an API server calls a webhook by one name.
 *   So are names that end in a number, which are mistyped addresses (RFC 1123, 2.1), and IPv6 addresses with a zone.
 * @throws CniGateError CNI_GATE_USAGE if it is neither
 */
function usualName(name: string): string {
  if (isIP(name) !== 0 && !name.includes('%')) return usualAddress(name);
  const text = name.toLowerCase();
  if (isObjectName(text) && !/(^|\.)\d+$/.test(text)) return text;
  throw new CniGateError(
    'CNI_GATE_USAGE',
    `A serving certificate is for DNS names (such as cni-gate.cni-gate.svc) and IP addresses; ${JSON.stringify(name)} is neither.`,
  );
}

/** A name as forge wants it: the numbers are the tags of GeneralName (RFC 5280, 4.2.1.6). */
function generalName(name: string): object {
  return isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name };
}
