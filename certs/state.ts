import type { X509Certificate } from 'node:crypto';
import { CniGateError, type ErrorCode } from '../webhook/lib/errors.ts';
import type { Authority } from './issue.ts';
import { checkPair, type Period, periodOf, readCertificates } from './verify.ts';

/**
 * What the replicas agree on, as stored in one Secret. Nothing else is stored, so a replica that starts at any point
 * of a rotation continues it.
 */
export interface State {
  /** Signs serving certificates. */
  authority: SigningAuthority;
  /** Signs them next: its certificate is in the caBundles, and it signs once every API server knows it. */
  next?: SigningAuthority | undefined;
  /** Signed them before: the keys are deleted, the certificates are trusted until what they signed has expired. */
  previous?: Previous | undefined;
}

/** An authority that is trusted. */
export interface TrustedAuthority extends Period {
  /** Its certificate, PEM. */
  certificate: string;
  /** SHA-256 of the certificate: 32 pairs of hexadecimal digits with colons between. */
  fingerprint: string;
}

/** An authority whose key belongs to its certificate, whether that is valid now or not. */
export type SigningAuthority = TrustedAuthority & Authority;

/** Authorities that no longer sign and are still trusted. */
export interface Previous {
  authorities: TrustedAuthority[];
  /** When the last serving certificate that they can have signed has expired. */
  until: Date;
}

/** The labels of a metric, which are also in the documentation. */
export type FaultReason =
  | 'missing'
  | 'empty'
  | 'unreadable'
  | 'mismatch'
  | 'expired'
  | 'not-yet-valid'
  | 'foreign'
  | 'inconsistent'
  | 'rolled-back';

/** One fault of the Secret. */
export interface Fault {
  reason: FaultReason;
  code: ErrorCode;
  /** What was expected and what was seen. */
  message: string;
}

/** The parts of the Secret that can be used, and what is wrong with the others. */
export interface Reading extends Omit<State, 'authority'> {
  authority?: SigningAuthority | undefined;
  faults: Fault[];
}

/** The data of a Secret as text, before it becomes base64. */
export type SecretData = Readonly<Record<string, string>>;

/** The type of the Secret: the API server requires `tls.crt` and `tls.key` in it. It cannot be changed later. */
export const secretType = 'kubernetes.io/tls';

/** Every authority of a state, the one that signs now first. */
export function trustedIn({ authority, next, previous }: State): TrustedAuthority[] {
  return [authority, ...(next ? [next] : []), ...(previous?.authorities ?? [])];
}

/** The text of `ca.crt` and of each `caBundle`, before it becomes base64. */
export function bundleOf(state: State): string {
  return textOf(trustedIn(state));
}

/** The data of the Secret for a state. `ca.crt` is cert-manager's name for it. Other keys are removed. */
export function secretData(state: State): SecretData {
  const { authority, next, previous } = state;
  return {
    'tls.crt': authority.certificate,
    'tls.key': authority.key,
    'ca.crt': bundleOf(state),
    ...(next && { 'next.crt': next.certificate, 'next.key': next.key }),
    ...(previous && {
      'previous.crt': textOf(previous.authorities),
      'previous-until': previous.until.toISOString(),
    }),
  };
}

/** Reads the Secret's data. It uses no clock, so a reading is valid as long as the Secret stays the same. */
export function readSecret(data: SecretData): Reading {
  if (isEmpty(data)) return { faults: [fault('empty', 'the Secret is empty')] };
  const faults: Fault[] = [];
  const read = <Part>(
    part: string,
    [one = '', other = '']: (string | undefined)[],
    parse: (one: string, other: string) => Part,
  ): Part | undefined => {
    if (part !== 'authority' && one === '' && other === '') return undefined;
    try {
      return parse(one, other);
    } catch (error) {
      if (!(error instanceof CniGateError)) throw error;
      const reason = error.code === 'CNI_GATE_TLS_PAIR' ? 'mismatch' : 'unreadable';
      faults.push(fault(reason, `the ${part}: ${error.message}`, error.code));
      return undefined;
    }
  };
  const authority = read('authority', [data['tls.crt'], data['tls.key']], readAuthority);
  const next = read('next authority', [data['next.crt'], data['next.key']], readAuthority);
  const previous = read('previous authority', [data['previous.crt'], data['previous-until']], readPrevious);
  if (authority && data['ca.crt'] !== bundleOf({ authority, next, previous })) {
    faults.push(fault('inconsistent', 'ca.crt does not contain the authorities of the Secret'));
  }
  return { authority, next, previous, faults };
}

/** The state in a reading that has no fault but those that a clock would find. */
export function wholeState({ authority, next, previous, faults }: Reading): State | undefined {
  return authority && faults.length === 0 ? { authority, next, previous } : undefined;
}

/** Whether the data of a Secret contains nothing that could be lost. */
export function isEmpty(data: SecretData): boolean {
  return Object.values(data).every((text) => text.trim() === '');
}

/** @throws CniGateError as {@link checkPair} does, and CNI_GATE_TLS_PAIR if it is not an authority's certificate */
export function readAuthority(certificate: string, key: string): SigningAuthority {
  const [x509] = readCertificates(certificate);
  // at a moment at which it is valid: only the pair is checked here
  checkPair(certificate, key, x509.validFromDate);
  if (x509.ca && x509.publicKey.asymmetricKeyType === 'ec') return { ...trusted(x509), key };
  const message = `expected the certificate of an authority with an EC key, got that of ${x509.subject}`;
  throw new CniGateError('CNI_GATE_TLS_PAIR', message);
}

function readPrevious(certificates: string, end: string): Previous {
  const authorities = readTrusted(certificates);
  const until = new Date(end);
  if (authorities.length > 0 && !Number.isNaN(until.getTime())) return { authorities, until };
  const message = `expected a certificate and the time until which it is trusted; the time is ${JSON.stringify(end)}`;
  throw new CniGateError('CNI_GATE_TLS_SECRET', message);
}

/** The certificates of authorities in a PEM text; others in it are ignored. */
function readTrusted(pem: string): TrustedAuthority[] {
  return readCertificates(pem)
    .filter((x509) => x509.ca)
    .map(trusted);
}

function trusted(x509: X509Certificate): TrustedAuthority {
  return { certificate: x509.toString(), fingerprint: x509.fingerprint256, ...periodOf(x509) };
}

/** A fault of the Secret. */
export function fault(reason: FaultReason, message: string, code: ErrorCode = 'CNI_GATE_TLS_SECRET'): Fault {
  return { reason, code, message };
}

function textOf(authorities: TrustedAuthority[]): string {
  return authorities.map(({ certificate }) => certificate).join('');
}

/** The fingerprints of the authorities in a caBundle; empty if there is none or it cannot be read. */
export function fingerprintsIn(bundle: string | undefined): Set<string> {
  try {
    return fingerprintsOf(readTrusted(bundle ?? ''));
  } catch {
    return new Set();
  }
}

/** The fingerprints of authorities. */
export function fingerprintsOf(authorities: readonly TrustedAuthority[]): Set<string> {
  return new Set(authorities.map(({ fingerprint }) => fingerprint));
}

/** What is wrong with a caBundle that should contain exactly the authorities of `expected`; undefined if nothing is. */
export function bundleFault(bundle: string | undefined, expected: string): FaultReason | undefined {
  if (bundle === undefined || bundle.trim() === '') return 'empty';
  const [found, wanted] = [fingerprintsIn(bundle), fingerprintsIn(expected)];
  if (found.size === 0) return 'unreadable';
  if (!found.isSubsetOf(wanted)) return 'foreign';
  return found.size === wanted.size ? undefined : 'inconsistent';
}
