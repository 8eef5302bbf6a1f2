import { createHash, generateKeyPairSync, randomBytes, sign, X509Certificate } from 'node:crypto';
import forge from 'node-forge';

const { asn1 } = forge;
const pki = forge.pki as typeof forge.pki & Untyped;
const { Class, Type } = asn1;

/** A structure of ASN.1, as node-forge holds it. */
export type Asn1 = forge.asn1.Asn1;

/** A key pair in PEM. */
export interface KeyPem {
  /** SEC 1, not encrypted: `-----BEGIN EC PRIVATE KEY-----`. */
  privateKey: string;
  /** SubjectPublicKeyInfo: `-----BEGIN PUBLIC KEY-----`. */
  publicKey: string;
}

/**
 * Generates an EC key on the curve P-256: docs/decisions/certificates.md says why not RSA.
 *
 * In the form of SEC 1 (RFC 5915): the API server reads `--service-account-key-file` in no other (client-go,
 * util/keyutil), and docker-compose.yml gives it a key that `certs issue` wrote.
 */
export function generateKey(): KeyPem {
  return generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    privateKeyEncoding: { type: 'sec1', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  });
}

/** The content of a certificate. */
export interface CertificateFields {
  /** The name of its owner: see {@link encodeCommonName}. */
  subject: Asn1;
  /** The name of the issuer, as encoded in the issuer's own certificate; the subject if it signs itself. */
  issuer?: Asn1;
  /** The owner's public EC key, SPKI PEM. */
  publicKey: string;
  period: { notBefore: Date; notAfter: Date };
  /** Extensions as node-forge names them. The subjectKeyIdentifier is added to them. */
  extensions: object[];
}

/**
 * Encodes a version 3 certificate and signs it with ECDSA and SHA-256 (RFC 5280, RFC 5758). node-forge encodes names
 * and extensions. It knows no EC keys, so this function assembles the rest, and node:crypto signs.
 *
 * @param signingKey the issuer's private EC key, PEM
 * @returns the certificate in PEM
 */
export function signCertificate(
  { subject, issuer = subject, publicKey, period, extensions }: CertificateFields,
  signingKey: string,
): string {
  const key = Buffer.from(publicKey.replaceAll(/-----[^-]+-----/g, ''), 'base64');
  // the last 65 bytes are the point of the curve, whose SHA-1 identifies the key (RFC 5280, 4.2.1.2, method 1)
  const keyIdentifier = primitive(Type.OCTETSTRING, createHash('sha1').update(key.subarray(-65)).digest());
  // only for its encoding of extensions
  const certificate = pki.createCertificate();
  certificate.setExtensions([...extensions, { name: 'subjectKeyIdentifier', value: keyIdentifier }]);
  const algorithm = sequence(primitive(Type.OID, asn1.oidToDer(ecdsaWithSha256).getBytes()));
  const unsigned = sequence(
    asn1.create(Class.CONTEXT_SPECIFIC, 0, true, [primitive(Type.INTEGER, '\x02')]),
    primitive(Type.INTEGER, randomSerial()),
    algorithm,
    issuer,
    sequence(time(period.notBefore), time(period.notAfter)),
    subject,
    decode(key),
    pki.certificateExtensionsToAsn1((certificate as unknown as { extensions: object[] }).extensions),
  );
  const signature = sign('sha256', encode(unsigned), signingKey);
  // a bit string begins with the number of bits that are not used
  const bits = primitive(Type.BITSTRING, Buffer.concat([Buffer.of(0), signature]));
  return new X509Certificate(encode(sequence(unsigned, algorithm, bits))).toString();
}

/** A name that has only a common name, as UTF8String (RFC 5280, 4.1.2.4); forge's default has no underscore. */
export function encodeCommonName(commonName: string): Asn1 {
  const valueTagClass = Type.UTF8 as unknown as forge.asn1.Class;
  const attribute = { type: pki.oids.commonName as string, value: commonName, valueTagClass };
  return pki.distinguishedNameToAsn1({ attributes: [attribute] });
}

/**
 * What a certificate takes over from the one that signs it: the name as it is encoded there, because clients compare
 * the bytes, and the subjectKeyIdentifier as a string of bytes, undefined if it has none.
 *
 * @param der the certificate of the issuer, version 3
 */
export function issuerFields(der: Buffer): { name: Asn1; keyIdentifier: string | undefined } {
  const [unsigned] = decode(der).value as Asn1[];
  const fields = unsigned?.value as Asn1[];
  const last = fields.at(-1);
  // the extensions are the last field, in [3], and may be absent
  const own = Number(last?.type) === 3 && last ? pki.certificateExtensionsFromAsn1(last) : [];
  const identifier = own.find(({ name }) => name === 'subjectKeyIdentifier')?.subjectKeyIdentifier;
  return { name: fields[5] as Asn1, keyIdentifier: identifier && forge.util.hexToBytes(identifier) };
}

const ecdsaWithSha256 = '1.2.840.10045.4.3.2';

/** Exported by node-forge and missing from its types. */
interface Untyped {
  certificateExtensionsToAsn1(extensions: object[]): Asn1;
  certificateExtensionsFromAsn1(extensions: Asn1): { name?: string; subjectKeyIdentifier?: string }[];
}

/** A random positive number of 128 bits, without a zero byte at its beginning (RFC 5280, 4.1.2.2). */
function randomSerial(): Buffer {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x3f) | 0x40, 0);
  return bytes;
}

/** UTCTime until 2049, GeneralizedTime after that (RFC 5280, 4.1.2.5). */
function time(date: Date): Asn1 {
  return date.getUTCFullYear() < 2050
    ? primitive(Type.UTCTIME, asn1.dateToUtcTime(date))
    : primitive(Type.GENERALIZEDTIME, asn1.dateToGeneralizedTime(date));
}

const sequence = (...values: Asn1[]): Asn1 => asn1.create(Class.UNIVERSAL, Type.SEQUENCE, true, values);

/** @param value bytes, or a string with a character for each byte */
const primitive = (type: forge.asn1.Type, value: Buffer | string): Asn1 =>
  asn1.create(Class.UNIVERSAL, type, false, value.toString('latin1'));

const decode = (der: Buffer): Asn1 => asn1.fromDer(der.toString('latin1'));
const encode = (structure: Asn1): Buffer => Buffer.from(asn1.toDer(structure).getBytes(), 'latin1');
