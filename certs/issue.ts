import { X509Certificate } from 'node:crypto';
import { CniGateError } from '../webhook/lib/errors.ts';
import { type AltName, readNames } from './names.ts';
import { checkPair } from './pair.ts';
import { type Period, periodFrom } from './period.ts';
import { encodeCommonName, generateKey, issuerFields, longestCommonName, signCertificate } from './x509.ts';

/** A certificate authority. */
export interface Authority {
  /** Its own certificate, PEM: what clients are told to trust (`caBundle`, once in base64). */
  certificate: string;
  /** Its private EC key, PEM. */
  key: string;
}

/** A certificate to serve TLS with. */
export interface ServingCertificate extends Period {
  /** The certificate alone, PEM. */
  certificate: string;
  /** Its private EC key, PEM. */
  key: string;
}

/** How long a certificate is valid. */
interface Validity {
  /** Days from now. */
  days: number;
  /** The time of issue. */
  now: Date;
}

/** The name of every authority that cni-gate creates. */
export const authorityName = 'cni-gate';

/**
 * Creates an authority that signs its own certificate and those of servers, and no further authority. Its extensions
 * are those that RFC 5280 (4.2.1.2, 4.2.1.3, 4.2.1.9) requires of an authority.
 *
 * @param commonName its name, from 1 to 64 characters
 * @throws CniGateError CNI_GATE_USAGE where the name or the days are out of range
 */
export function createAuthority({
  commonName = authorityName,
  days,
  now,
}: Validity & { commonName?: string }): Authority {
  const length = [...commonName].length;
  if (length < 1 || length > longestCommonName) {
    throw new CniGateError(
      'CNI_GATE_USAGE',
      `The name of an authority has from 1 to ${longestCommonName} characters; ${JSON.stringify(commonName)} has ${length}.`,
    );
  }
  const period = periodFrom(now, days);
  const { privateKey, publicKey } = generateKey();
  const extensions = [
    { name: 'basicConstraints', critical: true, cA: true, pathLenConstraint: 0 },
    { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true },
  ];
  const fields = { subject: encodeCommonName(commonName), publicKey, period, extensions };
  return { certificate: signCertificate(fields, privateKey), key: privateKey };
}

/**
 * Creates a key and a certificate for a TLS server, and signs it with an authority (RFC 5280).
 *
 * @param names the DNS names and IP addresses that clients connect to, at least one
 * @param days it never outlives its authority
 * @throws CniGateError CNI_GATE_USAGE where a name or the days cannot be used; CNI_GATE_TLS_UNREADABLE or
 *   CNI_GATE_TLS_PAIR where the authority cannot sign, because {@link checkPair} rejects it or it is none
 */
export function issueServing(
  authority: Authority,
  { names, days, now }: Validity & { names: readonly string[] },
): ServingCertificate {
  const altNames = readNames(names);
  const signer = readSigner(authority, now);
  const period = periodFrom(now, days, signer.period);
  const { privateKey, publicKey } = generateKey();
  // For people who read the certificate. Clients look at the alternative names, and these have room for any name.
  const first = altNames[0]?.text ?? '';
  const commonName = first.length <= longestCommonName ? first : undefined;
  const extensions = [
    { name: 'basicConstraints', critical: true, cA: false },
    { name: 'keyUsage', critical: true, digitalSignature: true },
    { name: 'extKeyUsage', serverAuth: true },
    // Where there is no subject, the alternative names are what the certificate is about (RFC 5280, 4.2.1.6).
    { name: 'subjectAltName', critical: commonName === undefined, altNames: altNames.map(generalName) },
    { name: 'authorityKeyIdentifier', keyIdentifier: signer.keyIdentifier },
  ];
  const subject = encodeCommonName(commonName);
  const fields = { subject, issuer: signer.name, publicKey, period, extensions };
  return { certificate: signCertificate(fields, authority.key), key: privateKey, ...period };
}

/** A name as forge wants it: the numbers are the tags of GeneralName (RFC 5280, 4.2.1.6). */
function generalName({ kind, text }: AltName): object {
  return kind === 'dns' ? { type: 2, value: text } : { type: 7, ip: text };
}

/** What a certificate takes over from the authority that signs it. */
function readSigner({ certificate, key }: Authority, now: Date) {
  const period = checkSigner(certificate, key, now);
  const parsed = new X509Certificate(certificate);
  const kind = parsed.publicKey.asymmetricKeyType;
  const { name, keyIdentifier } = issuerFields(parsed.raw);
  if (!parsed.ca || kind !== 'ec' || keyIdentifier === undefined) {
    const seen = `${parsed.ca ? 'a CA certificate' : 'no CA certificate'} with a key of kind ${kind}`;
    throw new CniGateError(
      'CNI_GATE_TLS_PAIR',
      `The authority cannot sign. It must be a CA certificate with an EC key and a subjectKeyIdentifier; given was ${seen}.`,
    );
  }
  return { period, name, keyIdentifier };
}

function checkSigner(certificate: string, key: string, now: Date): Period {
  try {
    const { notBefore, notAfter } = checkPair(certificate, key, now);
    return { notBefore, notAfter };
  } catch (error) {
    if (!(error instanceof CniGateError)) throw error;
    throw new CniGateError(error.code, `The authority cannot sign. ${error.message}`, { cause: error });
  }
}
