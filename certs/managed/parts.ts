import type { X509Certificate } from 'node:crypto';
import { CniGateError } from '../../webhook/lib/errors.ts';
import type { Authority } from '../authority.ts';
import { checkPair } from '../pair.ts';
import { pemBlocks } from '../pem.ts';
import type { Period } from '../period.ts';
import { readCertificates } from '../read.ts';
import type { Fault, FaultReason } from './fault.ts';
import type { Leaf } from './state.ts';

/** What identifies a certificate and when it is in force. Whether it is so *now* is asked later, with a clock. */
export interface CertificateFacts extends Period {
  /** SHA-256, as in {@link PairFacts}. */
  fingerprint: string;
  subject: string;
  issuer: string;
}

/** An authority that can sign, whatever the time is. */
export interface ReadAuthority extends Authority {
  facts: CertificateFacts;
}

/** A serving certificate that belongs to its key, whatever the time is. */
export interface ReadLeaf extends Leaf {
  facts: CertificateFacts & { names: string[] };
}

/** @throws CniGateError as {@link checkPair} does, and CNI_GATE_TLS_PAIR where it is no authority's certificate */
export function readAuthorityPart(certificate: string, key: string): ReadAuthority {
  const { x509 } = readPair(certificate, key);
  if (!x509.ca || x509.publicKey.asymmetricKeyType !== 'rsa') {
    throw new CniGateError(
      'CNI_GATE_TLS_PAIR',
      `expected the certificate of an authority with an RSA key; ${inWords(x509.subject)} is none`,
    );
  }
  const [block, ...more] = pemBlocks(certificate, 'The authority');
  if (more.length > 0 || block?.label !== 'CERTIFICATE') {
    throw new CniGateError(
      'CNI_GATE_TLS_PAIR',
      `expected one certificate and nothing else, found ${more.length + 1} blocks: whatever stands there would be told to everybody as a caBundle`,
    );
  }
  return { certificate: x509.toString(), key, facts: factsOf(x509) };
}

/** @throws CniGateError as {@link checkPair} does */
export function readLeafPart(certificate: string, key: string): ReadLeaf {
  const { x509, names } = readPair(certificate, key);
  return { certificate, key, facts: { ...factsOf(x509), names } };
}

/** The certificates of authorities in a PEM text, each with its own text; others in it are passed by. */
export function readTrusted(pem: string): { certificate: string; facts: CertificateFacts }[] {
  return readCertificates(pem)
    .filter((x509) => x509.ca)
    .map((x509) => ({ certificate: x509.toString(), facts: factsOf(x509) }));
}

/** Whether an authority signed a certificate: by the key, since all of ours have the same name. */
export function isSignedBy(leafPem: string, authorityPem: string): boolean {
  const [leaf] = readCertificates(leafPem);
  const [authority] = readCertificates(authorityPem);
  return leaf.checkIssued(authority) && leaf.verify(authority.publicKey);
}

/** Whether a time lies in a period, both ends included. */
export function inForce({ notBefore, notAfter }: Period, now: Date): boolean {
  return now >= notBefore && now <= notAfter;
}

/** The fault of a part that is not in force. */
export function periodFault(part: Fault['part'], { notBefore, notAfter }: Period, now: Date): Fault {
  const expired = now > notAfter;
  const [from, to, at] = [notBefore, notAfter, now].map((date) => date.toISOString());
  return {
    part,
    reason: expired ? 'expired' : 'not-yet-valid',
    code: 'CNI_GATE_TLS_PAIR',
    message: `the ${part} ${expired ? 'has expired' : 'is not yet valid'}: it is in force from ${from} to ${to}, and the clock says ${at}`,
  };
}

/** The fault that an error of reading a part stands for. */
export function readFault(part: Fault['part'], error: unknown): Fault {
  if (!(error instanceof CniGateError)) throw error;
  const reason: FaultReason = error.code === 'CNI_GATE_TLS_PAIR' ? 'mismatch' : 'unreadable';
  return { part, reason, code: error.code, message: `the ${part}: ${error.message}` };
}

function readPair(certificate: string, key: string): { x509: X509Certificate; names: string[] } {
  const [x509] = readCertificates(certificate);
  // at a moment at which it is in force: here only the pair is looked at
  const { names } = checkPair(certificate, key, x509.validFromDate);
  return { x509, names };
}

function factsOf(x509: X509Certificate): CertificateFacts {
  return {
    fingerprint: x509.fingerprint256,
    subject: inWords(x509.subject),
    issuer: inWords(x509.issuer),
    notBefore: x509.validFromDate,
    notAfter: x509.validToDate,
  };
}

/** Node gives a name as lines; undefined for an empty one. */
function inWords(name: string | undefined): string {
  return (name ?? '').split('\n').join(', ');
}
