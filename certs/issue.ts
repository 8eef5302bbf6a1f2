import { X509Certificate } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { CniGateError, errnoOf, messageOf } from '../webhook/lib/errors.ts';
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
export interface ServingCertificate extends Period {
  certificate: string;
  key: string;
}

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
 *
 * @throws CniGateError CNI_GATE_USAGE if the days are out of range
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
  const fields = {
    subject: encodeCommonName(commonName),
    publicKey,
    period: periodFrom(now, days),
    extensions,
  };
  return { certificate: signCertificate(fields, privateKey), key: privateKey };
}

/**
 * Creates a key and a certificate for a TLS server, and signs it with an authority (RFC 5280).
 *
 * @param names the DNS names and IP addresses that clients connect to, at least one
 * @param days it never outlives its authority
 * @throws CniGateError CNI_GATE_USAGE for a name or days that cannot be used; CNI_GATE_TLS_UNREADABLE or
 *   CNI_GATE_TLS_PAIR if the authority cannot sign: {@link checkPair} rejects it, or it is not an authority
 */
export function issueServing(
  authority: Authority,
  { names, days, now }: Validity & { names: readonly string[] },
): ServingCertificate {
  const altNames = [...new Set(names.map(usualName))].map(generalName);
  const signer = readSigner(authority, now);
  const period = periodFrom(now, days, signer.period);
  const { privateKey, publicKey } = generateKey();
  const extensions = [
    { name: 'basicConstraints', critical: true, cA: false },
    { name: 'keyUsage', critical: true, digitalSignature: true },
    { name: 'extKeyUsage', serverAuth: true },
    { name: 'subjectAltName', altNames },
    { name: 'authorityKeyIdentifier', keyIdentifier: signer.keyIdentifier },
  ];
  // for people who read the certificate: clients look at the alternative names
  const subject = encodeCommonName('cni-gate server');
  const fields = { subject, issuer: signer.name, publicKey, period, extensions };
  return { certificate: signCertificate(fields, authority.key), key: privateKey, ...period };
}

/** What a certificate takes over from the authority that signs it. */
function readSigner({ certificate, key }: Authority, now: Date) {
  try {
    const { notBefore, notAfter } = checkPair(certificate, key, now);
    const parsed = new X509Certificate(certificate);
    const { name, keyIdentifier } = issuerFields(parsed.raw);
    const kind = parsed.publicKey.asymmetricKeyType;
    if (parsed.ca && kind === 'ec' && keyIdentifier !== undefined) {
      return { period: { notBefore, notAfter }, name, keyIdentifier };
    }
    const seen = `${parsed.ca ? 'a CA certificate' : 'no CA certificate'} with a key of kind ${kind}`;
    const message = `It must be a CA certificate with an EC key and a subjectKeyIdentifier; given was ${seen}.`;
    throw new CniGateError('CNI_GATE_TLS_PAIR', message);
  } catch (error) {
    if (!(error instanceof CniGateError)) throw error;
    throw new CniGateError(error.code, `The authority cannot sign. ${error.message}`, { cause: error });
  }
}

/**
 * The period of a certificate made now: it begins five minutes ago, for clocks that are behind, and ends `days`
 * from now. Both ends are cut to whole seconds, because a certificate knows no finer time.
 *
 * @param within the period of the authority that signs: clients refuse what outlives its authority
 * @throws CniGateError CNI_GATE_USAGE if `days` is not a number of days that a certificate can have
 */
export function periodFrom(now: Date, days: number, within?: Period): Period {
  const start = wholeSeconds(now.getTime() - allowedSkewMs);
  const end = wholeSeconds(now.getTime() + days * dayMs);
  // the years of a certificate have four digits (RFC 5280, 4.1.2.5.2); a NaN is refused as well
  if (!(end > wholeSeconds(now.getTime()) && end < Date.UTC(10_000, 0))) {
    throw new CniGateError(
      'CNI_GATE_USAGE',
      `A certificate must last a second or more and end before the year 10000; asked for were ${days} days.`,
    );
  }
  return {
    notBefore: new Date(Math.max(start, within?.notBefore.getTime() ?? start)),
    notAfter: new Date(Math.min(end, within?.notAfter.getTime() ?? end)),
  };
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

/** Labels of letters, digits and inner hyphens (RFC 1123, 2.1). */
const dnsName = /^(?=.{1,253}$)([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.|$))+(?<!\.)$/;

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
  if (dnsName.test(text) && !/(^|\.)\d+$/.test(text)) return text;
  throw new CniGateError(
    'CNI_GATE_USAGE',
    `A serving certificate is for DNS names (such as cni-gate.cni-gate.svc) and IP addresses; ${JSON.stringify(name)} is neither.`,
  );
}

/** A name as forge wants it: the numbers are the tags of GeneralName (RFC 5280, 4.2.1.6). */
function generalName(name: string): object {
  return isIP(name) === 0 ? { type: 2, value: name } : { type: 7, ip: name };
}

/**
 * Issues a serving certificate into files. It uses the authority of the folder, and creates one where there is none.
 *
 * @returns the paths that were written
 * @throws CniGateError CNI_GATE_TLS_UNREADABLE, CNI_GATE_TLS_PAIR, CNI_GATE_USAGE
 */
export function issueIntoFiles(
  folder: string,
  {
    names,
    days,
    authorityDays,
    now,
  }: Record<'days' | 'authorityDays', number> & { names: string[]; now: Date },
): string[] {
  const path = (name: string): string => join(folder, name);
  const known = readAuthorityFiles(path('ca.crt'), path('ca.key'));
  const authority = known ?? createAuthority({ days: authorityDays, now });
  const leaf = issueServing(authority, { names, days, now });
  const texts: [file: string, text: string][] = [
    [path('tls.key'), leaf.key],
    [path('tls.crt'), leaf.certificate],
  ];
  if (!known) texts.unshift([path('ca.key'), authority.key], [path('ca.crt'), authority.certificate]);
  guarded(folder, () => mkdirSync(folder, { recursive: true }));
  for (const [file, text] of texts) {
    guarded(file, () => writeFileSync(file, text, { mode: file.endsWith('.key') ? 0o600 : 0o644 }));
  }
  return texts.map(([file]) => file);
}

function readAuthorityFiles(certificate: string, key: string): Authority | undefined {
  const found = [certificate, key].filter((file) => existsSync(file));
  if (found.length === 0) return undefined;
  if (found.length === 1) {
    const message = `${found[0]} is there without its ${found[0] === key ? 'certificate' : 'key'}: take it away, or choose another folder`;
    throw new CniGateError('CNI_GATE_TLS_UNREADABLE', message);
  }
  const read = (file: string): string => guarded(file, () => readFileSync(file, 'utf8'));
  return { certificate: read(certificate), key: read(key) };
}

function guarded<Result>(path: string, run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    const reason = errnoOf(error) ?? messageOf(error);
    throw new CniGateError('CNI_GATE_TLS_UNREADABLE', `cannot use ${path}: ${reason}`, { cause: error });
  }
}
