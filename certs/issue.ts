import { createHash, generateKeyPairSync, randomBytes, sign, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import forge from 'node-forge';
import { CniGateError } from '../webhook/lib/errors.ts';
import { checkPair, type Period } from './verify.ts';

const { asn1 } = forge;
const pki = forge.pki as typeof forge.pki & Untyped;
const { Class, Type } = asn1;

type Asn1 = forge.asn1.Asn1;

export interface Authority {
  /** The authority's own certificate in PEM. Clients trust this certificate; `caBundle` has it in base64. */
  certificate: string;
  key: string;
}

/** A certificate to serve TLS with, and its private EC key, in PEM. */
export interface ServingCertificate extends Authority, Period {}

interface Validity {
  /** The duration in days; fractions of a day are allowed. */
  days: number;
  now: Date;
}

/** By how many milliseconds two clocks may differ. */
const allowedSkewMs = 5 * 60_000;
const dayMs = 24 * 60 * 60_000;

/** Creates an authority that may sign serving certificates only (RFC 5280, 4.2.1.2, 4.2.1.3 and 4.2.1.9). */
export function createAuthority({ days, now }: Validity): Authority {
  const { key, publicKey } = generateKey();
  const extensions = [
    { name: 'basicConstraints', critical: true, cA: true, pathLenConstraint: 0 },
    { name: 'keyUsage', critical: true, keyCertSign: true, cRLSign: true },
  ];
  const name = encodeCommonName('cni-gate');
  const fields = { subject: name, issuer: name, publicKey, period: periodFrom(now, days), extensions };
  return { certificate: signCertificate(fields, key), key };
}

/**
 * Issues a certificate for a TLS server. The certificate never outlives its authority.
 * @param names DNS names and IP addresses, at least one
 * @throws CniGateError as {@link checkAuthority}
 */
export function issueServing(
  authority: Authority,
  { names, days, now }: Validity & { names: readonly string[] },
): ServingCertificate {
  // the numbers are the tags of GeneralName (RFC 5280, 4.2.1.6)
  const altNames = names.map((name) => (isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name }));
  const { issuer, keyIdentifier, period: within } = checkAuthority(authority, now);
  const period = periodFrom(now, days, within);
  const { key, publicKey } = generateKey();
  const extensions = [
    { name: 'basicConstraints', critical: true, cA: false },
    { name: 'keyUsage', critical: true, digitalSignature: true },
    { name: 'extKeyUsage', serverAuth: true },
    { name: 'subjectAltName', altNames },
    { name: 'authorityKeyIdentifier', keyIdentifier },
  ];
  // only people read the subject: clients compare the alternative names instead
  const subject = encodeCommonName('cni-gate server');
  const fields = { subject, issuer, publicKey, period, extensions };
  return { certificate: signCertificate(fields, authority.key), key, ...period };
}

/**
 * Checks that an authority can sign. Clients find the authority by its subjectKeyIdentifier and its encoded name.
 * @param at when the authority has to be valid; if undefined, its dates are not checked
 * @throws CniGateError CNI_GATE_TLS_UNREADABLE or CNI_GATE_TLS_PAIR
 */
export function checkAuthority(
  { certificate, key }: Authority,
  at?: Date,
): { issuer: Asn1; keyIdentifier: string; period: Period } {
  const period = checkPair(certificate, key, at);
  const { ca, publicKey, raw, subject } = new X509Certificate(certificate);
  const fields = (decode(raw).value as Asn1[])[0]?.value as Asn1[];
  // the certificate of a CA has extensions, as its last field (RFC 5280, 4.1)
  const extensions = ca ? pki.certificateExtensionsFromAsn1(fields.at(-1)) : [];
  const identifier = extensions.find(({ name }) => name === 'subjectKeyIdentifier')?.subjectKeyIdentifier;
  if (publicKey.asymmetricKeyType === 'ec' && identifier !== undefined)
    return { issuer: fields[5] as Asn1, keyIdentifier: forge.util.hexToBytes(identifier), period };
  const message = `The authority cannot sign: its certificate must be one of a CA, with an EC key and a subjectKeyIdentifier. It is that of ${subject}.`;
  throw new CniGateError('CNI_GATE_TLS_PAIR', message);
}

/**
 * A period that begins five minutes before now, for clients whose clocks are slow. Dates are whole seconds.
 * @param within the authority's period, because clients refuse a certificate that outlives its authority
 */
function periodFrom(now: Date, days: number, within?: Period): Period {
  const [start = 0, end = 0] = [-allowedSkewMs, days * dayMs].map(
    (ms) => Math.floor((now.getTime() + ms) / 1000) * 1000,
  );
  return {
    notBefore: new Date(Math.max(start, within?.notBefore.getTime() ?? start)),
    notAfter: new Date(Math.min(end, within?.notAfter.getTime() ?? end)),
  };
}

/** Generates a key on the curve P-256 (docs/decisions/certificates.md, section EC keys). */
function generateKey(): { key: string; publicKey: Buffer } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'der' },
  });
  return { key: privateKey, publicKey };
}

interface CertificateFields {
  subject: Asn1;
  issuer: Asn1;
  /** The owner's public EC key, as SPKI in DER. */
  publicKey: Buffer;
  period: Period;
  /** Extensions in the form of node-forge, without the subjectKeyIdentifier. */
  extensions: object[];
}

const ecdsaWithSha256 = '1.2.840.10045.4.3.2';

/**
 * Signs a version 3 certificate with ECDSA and SHA-256 (RFC 5280, RFC 5758). node-forge encodes names and extensions,
 * but does not support EC keys.
 * @param signingKey the issuer's private EC key, PEM
 */
function signCertificate(
  { subject, issuer, publicKey, period, extensions }: CertificateFields,
  signingKey: string,
): string {
  // the last 65 bytes are the curve point; their SHA-1 identifies the key (RFC 5280, 4.2.1.2, method 1)
  const keyIdentifier = createHash('sha1').update(publicKey.subarray(-65)).digest();
  const identifier = { name: 'subjectKeyIdentifier', value: primitive(Type.OCTETSTRING, keyIdentifier) };
  // used only to encode the extensions
  const certificate = pki.createCertificate();
  certificate.setExtensions([...extensions, identifier]);
  const algorithm = sequence(primitive(Type.OID, asn1.oidToDer(ecdsaWithSha256).getBytes()));
  const unsigned = sequence(
    asn1.create(Class.CONTEXT_SPECIFIC, 0, true, [primitive(Type.INTEGER, '\x02')]),
    // the serial number: positive and random, without a leading zero byte (RFC 5280, 4.1.2.2)
    primitive(Type.INTEGER, Buffer.concat([Buffer.of(0x40), randomBytes(15)])),
    algorithm,
    issuer,
    sequence(time(period.notBefore), time(period.notAfter)),
    subject,
    decode(publicKey),
    pki.certificateExtensionsToAsn1((certificate as unknown as { extensions: object[] }).extensions),
  );
  const signature = sign('sha256', encode(unsigned), signingKey);
  // the first byte of a bit string is the number of unused bits
  const bits = primitive(Type.BITSTRING, Buffer.concat([Buffer.of(0), signature]));
  return new X509Certificate(encode(sequence(unsigned, algorithm, bits))).toString();
}

/** A distinguished name that consists of a common name (RFC 5280, 4.1.2.4). */
const encodeCommonName = (value: string): Asn1 =>
  pki.distinguishedNameToAsn1({ attributes: [{ type: pki.oids.commonName as string, value }] });

interface Untyped {
  certificateExtensionsToAsn1(extensions: object[]): Asn1;
  certificateExtensionsFromAsn1(
    extensions: Asn1 | undefined,
  ): { name?: string; subjectKeyIdentifier?: string }[];
}

/** UTCTime until 2049, GeneralizedTime after that (RFC 5280, 4.1.2.5). */
function time(date: Date): Asn1 {
  return date.getUTCFullYear() < 2050
    ? primitive(Type.UTCTIME, asn1.dateToUtcTime(date))
    : primitive(Type.GENERALIZEDTIME, asn1.dateToGeneralizedTime(date));
}

const sequence = (...values: Asn1[]): Asn1 => asn1.create(Class.UNIVERSAL, Type.SEQUENCE, true, values);

/** @param value bytes, or a string with one character per byte */
const primitive = (type: forge.asn1.Type, value: Buffer | string): Asn1 =>
  asn1.create(Class.UNIVERSAL, type, false, value.toString('latin1'));

const decode = (der: Buffer): Asn1 => asn1.fromDer(der.toString('latin1'));
const encode = (structure: Asn1): Buffer => Buffer.from(asn1.toDer(structure).getBytes(), 'latin1');
