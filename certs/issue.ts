import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { isIP } from 'node:net';
import { CniGateError } from '../webhook/lib/errors.ts';
import { isObjectName } from '../webhook/lib/object-names.ts';
import { checkPair, type Period, usualAddress } from './verify.ts';

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
  const { privateKey: key, publicKey } = generateKey();
  const extensions = [
    // an authority, above no further one
    critical(ids.basicConstraints, sequence(der(0x01, Buffer.of(0xff)), der(0x02, Buffer.of(0)))),
    // keyCertSign and cRLSign
    critical(ids.keyUsage, der(0x03, Buffer.of(1, 0b110))),
  ];
  const subject = encodeCommonName(commonName);
  const period = periodFrom(now, days);
  return { certificate: signCertificate({ subject, publicKey, period, extensions }, key), key };
}

/**
 * Creates a key and a certificate for a TLS server, and signs it with an authority (RFC 5280).
 *
 * @param names the DNS names and IP addresses that clients connect to, at least one
 * @param days it never outlives its authority
 * @throws CniGateError CNI_GATE_USAGE for a name that cannot be used; others if the authority cannot sign now: see
 *   {@link checkAuthority}
 */
export function issueServing(
  authority: Authority,
  { names, days, now }: Validity & { names: readonly string[] },
): ServingCertificate {
  // the tags of GeneralName: a DNS name, and an address (RFC 5280, 4.2.1.6)
  const altNames = [...new Set(names.map(usualName))].map((name) =>
    isIP(name) === 0 ? der(0x82, Buffer.from(name)) : der(0x87, addressBytes(name)),
  );
  const { issuer, keyIdentifier, period: within } = checkAuthority(authority, now);
  const period = periodFrom(now, days, within);
  const { privateKey: key, publicKey } = generateKey();
  const extensions = [
    critical(ids.basicConstraints, sequence()),
    // digitalSignature
    critical(ids.keyUsage, der(0x03, Buffer.of(7, 0b1000_0000))),
    extension(ids.extKeyUsage, sequence(oid(ids.serverAuth))),
    extension(ids.subjectAltName, sequence(...altNames)),
    extension(ids.authorityKeyIdentifier, sequence(der(0x80, keyIdentifier))),
  ];
  // for people who read the certificate: clients look at the alternative names
  const subject = encodeCommonName('cni-gate server');
  const certificate = signCertificate({ subject, issuer, publicKey, period, extensions }, authority.key);
  return { certificate, key, ...period };
}

/**
 * Checks that this file made an authority, so that it can sign: what it signs has the bytes of its name and of its
 * subjectKeyIdentifier, which clients compare.
 *
 * @param at a time at which it has to be valid; undefined for any
 * @returns what a certificate takes over from it
 * @throws CniGateError CNI_GATE_TLS_UNREADABLE or CNI_GATE_TLS_PAIR: {@link checkPair} rejects it, or another program
 *   made it
 */
export function checkAuthority(
  { certificate, key }: Authority,
  at?: Date,
): { issuer: Buffer; keyIdentifier: Buffer; period: Period } {
  const period = checkPair(certificate, key, at);
  const { ca, publicKey, raw, subject } = new X509Certificate(certificate);
  const issuer = encodeCommonName(String(subject).replace(/^CN=/, ''));
  const keyIdentifier = identifierOf(publicKey);
  const isOurs = publicKey.asymmetricKeyType === 'ec' && raw.includes(issuer);
  if (ca && isOurs && raw.includes(keyIdentifier)) return { issuer, keyIdentifier, period };
  const message = `The authority cannot sign: its certificate, that of ${subject}, is not one of an authority that cni-gate created.`;
  throw new CniGateError('CNI_GATE_TLS_PAIR', message);
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

/**
 * Generates an EC key on the curve P-256: docs/decisions/certificates.md says why not RSA.
 *
 * In the form of SEC 1 (RFC 5915): the API server reads `--service-account-key-file` in no other (client-go,
 * util/keyutil), and docker-compose.yml gives it a key that `certs issue` wrote.
 */
export function generateKey() {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { privateKey: privateKey.export({ type: 'sec1', format: 'pem' }).toString(), publicKey };
}

/** The content of a certificate. */
export interface CertificateFields {
  /** The name of its owner: see {@link encodeCommonName}. */
  subject: Buffer;
  /** The name of the issuer; the subject if it signs itself. */
  issuer?: Buffer;
  /** The owner's public EC key. */
  publicKey: KeyObject;
  period: Period;
  /** Made by {@link extension}. The subjectKeyIdentifier is added to them. */
  extensions: Buffer[];
}

/**
 * Encodes a version 3 certificate in DER, and signs it with ECDSA and SHA-256 (RFC 5280, RFC 5758).
 *
 * @param signingKey the issuer's private EC key, PEM
 * @returns the certificate in PEM
 */
export function signCertificate(
  { subject, issuer = subject, publicKey, period, extensions }: CertificateFields,
  signingKey: string,
): string {
  const algorithm = sequence(oid(ids.ecdsaWithSha256));
  const ownKey = extension(ids.subjectKeyIdentifier, der(0x04, identifierOf(publicKey)));
  const unsigned = sequence(
    der(0xa0, der(0x02, Buffer.of(2))),
    der(0x02, randomSerial()),
    algorithm,
    issuer,
    sequence(time(period.notBefore), time(period.notAfter)),
    subject,
    derOf(publicKey),
    der(0xa3, sequence(...extensions, ownKey)),
  );
  const signature = sign('sha256', unsigned, signingKey);
  // a bit string begins with the number of bits that are not used
  return new X509Certificate(sequence(unsigned, algorithm, der(0x03, Buffer.of(0), signature))).toString();
}

const derOf = (publicKey: KeyObject): Buffer => publicKey.export({ type: 'spki', format: 'der' });

/** The SHA-1 of the point of the curve, which is the last 65 bytes of a key (RFC 5280, 4.2.1.2, method 1). */
const identifierOf = (publicKey: KeyObject): Buffer =>
  createHash('sha1').update(derOf(publicKey).subarray(-65)).digest();

/** A random positive number of 128 bits, without a zero byte at its beginning (RFC 5280, 4.1.2.2). */
function randomSerial(): Buffer {
  const bytes = randomBytes(16);
  bytes.writeUInt8((bytes.readUInt8(0) & 0x3f) | 0x40, 0);
  return bytes;
}

/** Object identifiers in DER, as hexadecimal digits (RFC 5280, RFC 5758). */
const ids = {
  commonName: '550403',
  subjectKeyIdentifier: '551d0e',
  keyUsage: '551d0f',
  subjectAltName: '551d11',
  basicConstraints: '551d13',
  authorityKeyIdentifier: '551d23',
  extKeyUsage: '551d25',
  serverAuth: '2b06010505070301',
  ecdsaWithSha256: '2a8648ce3d040302',
};

/** A value in DER: its tag, the length of its content, and the content, of less than 64 KiB (X.690, 8.1). */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const short = length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...(length < 0x80 ? [length] : short)), content]);
}

export const sequence = (...parts: Buffer[]): Buffer => der(0x30, ...parts);

/** @param id hexadecimal digits */
export const oid = (id: string): Buffer => der(0x06, Buffer.from(id, 'hex'));

/** An extension that clients may pass over if they do not know it. */
export const extension = (id: string, value: Buffer): Buffer => sequence(oid(id), der(0x04, value));

const critical = (id: string, value: Buffer): Buffer =>
  sequence(oid(id), der(0x01, Buffer.of(0xff)), der(0x04, value));

/** A part of a name, as UTF8String (RFC 5280, 4.1.2.4). */
export const attribute = (id: string, value: string): Buffer =>
  der(0x31, sequence(oid(id), der(0x0c, Buffer.from(value))));

/** A name that has only a common name. */
export const encodeCommonName = (commonName: string): Buffer =>
  sequence(attribute(ids.commonName, commonName));

/** UTCTime until 2049, GeneralizedTime after that (RFC 5280, 4.1.2.5). */
function time(date: Date): Buffer {
  const text = date.toISOString().replaceAll(/[-:T]|\.\d+/g, '');
  return date.getUTCFullYear() < 2050 ? der(0x17, Buffer.from(text.slice(2))) : der(0x18, Buffer.from(text));
}

/** The 4 or 16 bytes of an address in its usual spelling. */
function addressBytes(address: string): Buffer {
  if (isIP(address) === 4) return Buffer.from(address.split('.').map(Number));
  const [head = [], tail = []] = address.split('::').map((half) => half.split(':').filter(Boolean));
  const zeros = Array(8 - head.length - tail.length).fill('0');
  return Buffer.from([...head, ...zeros, ...tail].map((group) => group.padStart(4, '0')).join(''), 'hex');
}
