import { X509Certificate } from 'node:crypto';
import forge from 'node-forge';
import { CniGateError } from '../webhook/lib/errors.ts';
import type { Authority } from './authority.ts';
import { generateKey, type KeyPem } from './keys.ts';
import { type AltName, readNames } from './names.ts';
import { checkPair } from './pair.ts';
import { periodFrom } from './period.ts';
import { encodedSubject, longestCommonName, signCertificate } from './sign.ts';

/** What {@link issueServing} needs to be told. */
export interface ServingRequest {
  /** The DNS names and IP addresses that clients will connect to, at least one. */
  names: readonly string[];
  /** How many days it lasts, counted from now; it never outlives its authority. */
  days: number;
  /** The time it is made at. */
  now: Date;
  /** Makes its key: {@link generateKey} where nothing is given. */
  keys?: () => Promise<KeyPem>;
}

/** A certificate to serve TLS with. */
export interface ServingCertificate {
  /** The certificate alone, PEM. */
  certificate: string;
  /** Its private RSA key, PKCS#8 PEM. */
  key: string;
  /** The period in which it is in force, both ends included. */
  notBefore: Date;
  notAfter: Date;
}

/**
 * Makes a key and a certificate for a TLS server, and signs it by an authority (RFC 5280).
 *
 * @throws CniGateError CNI_GATE_USAGE where a name or the days cannot be used; CNI_GATE_TLS_UNREADABLE or
 *   CNI_GATE_TLS_PAIR where the authority cannot sign, because {@link checkPair} refuses it or it is none
 */
export async function issueServing(
  authority: Authority,
  request: ServingRequest,
): Promise<ServingCertificate> {
  const names = readNames(request.names);
  const signer = readAuthority(authority, request.now);
  const period = periodFrom(request.now, request.days, signer.period);
  const { privateKey, publicKey } = await (request.keys ?? generateKey)();
  // For people who read the certificate. Clients look at the alternative names, and these have room for any name.
  const first = names[0]?.text ?? '';
  const commonName = first.length <= longestCommonName ? first : undefined;
  const extensions = [
    { name: 'basicConstraints', critical: true, cA: false },
    { name: 'keyUsage', critical: true, digitalSignature: true, keyEncipherment: true },
    { name: 'extKeyUsage', serverAuth: true },
    // Where there is no subject, the alternative names are what the certificate is about (RFC 5280, 4.2.1.6).
    { name: 'subjectAltName', critical: commonName === undefined, altNames: names.map(generalName) },
    { name: 'authorityKeyIdentifier', keyIdentifier: signer.keyIdentifier },
  ];
  const draft = { publicKey, period, extensions, issuer: signer.subject };
  const certificate = await signCertificate(
    commonName === undefined ? draft : { ...draft, commonName },
    authority.key,
  );
  return { certificate, key: privateKey, ...period };
}

/** A name as forge wants it: the numbers are the tags of GeneralName (RFC 5280, 4.2.1.6). */
function generalName({ kind, text }: AltName): object {
  return kind === 'dns' ? { type: 2, value: text } : { type: 7, ip: text };
}

/** What a certificate takes over from the authority that signs it. */
function readAuthority({ certificate, key }: Authority, now: Date) {
  const period = checkAuthority(certificate, key, now);
  const parsed = new X509Certificate(certificate);
  const kind = parsed.publicKey.asymmetricKeyType;
  // Without the key's kind first, forge would throw an error of its own at an EC key.
  const keyIdentifier = parsed.ca && kind === 'rsa' ? keyIdentifierOf(parsed) : undefined;
  if (keyIdentifier === undefined) {
    const seen = `${parsed.ca ? 'a CA certificate' : 'no CA certificate'} with a key of kind ${kind}`;
    throw new CniGateError(
      'CNI_GATE_TLS_PAIR',
      `The authority cannot sign. It must be a CA certificate with an RSA key and a subjectKeyIdentifier; given was ${seen}.`,
    );
  }
  return { period, subject: encodedSubject(parsed.raw), keyIdentifier };
}

/** The subjectKeyIdentifier, which every CA certificate must have (RFC 5280, 4.2.1.2), as a string of bytes. */
function keyIdentifierOf(certificate: X509Certificate): string | undefined {
  const extension = forge.pki.certificateFromPem(certificate.toString()).getExtension('subjectKeyIdentifier');
  const hex = (extension as { subjectKeyIdentifier?: string } | undefined)?.subjectKeyIdentifier;
  return hex && forge.util.hexToBytes(hex);
}

function checkAuthority(certificate: string, key: string, now: Date) {
  try {
    const { notBefore, notAfter } = checkPair(certificate, key, now);
    return { notBefore, notAfter };
  } catch (error) {
    if (!(error instanceof CniGateError)) throw error;
    throw new CniGateError(error.code, `The authority cannot sign. ${error.message}`, { cause: error });
  }
}
