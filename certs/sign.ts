import { randomBytes, sign } from 'node:crypto';
import { promisify } from 'node:util';
import forge from 'node-forge';
import type { Period } from './period.ts';

const { asn1, pki } = forge;
const signOffLoop = promisify(sign);

/** What a certificate shall say. */
export interface Draft {
  /** The common name of the subject; without it the subject is empty. */
  commonName?: string;
  /** The subject's public RSA key, SPKI PEM. */
  publicKey: string;
  period: Period;
  /** Extensions as node-forge names them. The subjectKeyIdentifier is added to them. */
  extensions: object[];
  /** The name of the issuer as it stands in its own certificate; without it the certificate issues itself. */
  issuer?: forge.asn1.Asn1;
}

/** How many characters a common name may have (X.520 and RFC 5280, appendix A.1: ub-common-name). */
export const longestCommonName = 64;

/**
 * Writes a version 3 certificate and signs it with RSA and SHA-256 (RFC 5280).
 *
 * forge only writes it. node:crypto signs, off the event loop: forge would hold it for 30 ms. And the issuer's
 * name is copied as it was encoded, because forge encodes the UTF-8 of a name it has read a second time, and
 * clients compare the two names byte by byte.
 *
 * @param draft what it shall say
 * @param signingKey the issuer's private RSA key, PEM
 * @returns the certificate in PEM, lines ended by a bare line feed
 */
export async function signCertificate(draft: Draft, signingKey: string): Promise<string> {
  const certificate = pki.createCertificate();
  certificate.serialNumber = randomSerial();
  certificate.publicKey = pki.publicKeyFromPem(draft.publicKey);
  certificate.validity.notBefore = draft.period.notBefore;
  certificate.validity.notAfter = draft.period.notAfter;
  const subject = draft.commonName === undefined ? [] : [utf8CommonName(draft.commonName)];
  certificate.setSubject(subject);
  certificate.setIssuer(subject);
  certificate.setExtensions([...draft.extensions, { name: 'subjectKeyIdentifier' }]);

  const algorithm = pki.oids.sha256WithRSAEncryption as string;
  certificate.siginfo.algorithmOid = algorithm;
  certificate.signatureOid = algorithm;
  const unsigned = (pki as unknown as Untyped).getTBSCertificate(certificate);
  if (draft.issuer) parts(unsigned)[issuerField] = draft.issuer;
  const bytes = Buffer.from(asn1.toDer(unsigned).getBytes(), 'latin1');
  certificate.tbsCertificate = unsigned;
  certificate.signature = (await signOffLoop('sha256', bytes, signingKey)).toString('latin1');
  return pki.certificateToPem(certificate).replaceAll('\r\n', '\n');
}

/**
 * The name of a certificate's subject, as it was encoded.
 *
 * @param der the certificate, version 3
 */
export function encodedSubject(der: Buffer): forge.asn1.Asn1 {
  const [unsigned] = parts(asn1.fromDer(der.toString('latin1')));
  return parts(unsigned)[subjectField] as forge.asn1.Asn1;
}

function parts(sequence: forge.asn1.Asn1 | undefined): forge.asn1.Asn1[] {
  return Array.isArray(sequence?.value) ? sequence.value : [];
}

/** Where the names stand in a TBSCertificate that gives its version (RFC 5280, 4.1). */
const issuerField = 3;
const subjectField = 5;

/** Exported by node-forge and missing from its types. */
interface Untyped {
  getTBSCertificate(certificate: forge.pki.Certificate): forge.asn1.Asn1;
}

/**
 * A random serial number of 128 bits, in hexadecimal. The top bit is clear, or it would be negative; the next one
 * is set, so that it is never zero and never begins with a zero byte, which DER forbids (RFC 5280, 4.1.2.2).
 */
function randomSerial(): string {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x3f) | 0x40, 0);
  return bytes.toString('hex');
}

/** UTF8String, as RFC 5280 (4.1.2.4) wants it: forge's default, PrintableString, has not even an underscore. */
function utf8CommonName(value: string): forge.pki.CertificateField {
  return { name: 'commonName', value, valueTagClass: asn1.Type.UTF8 as unknown as forge.asn1.Class };
}
