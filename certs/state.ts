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
  /** Signed them before, the latest first: the keys are deleted, the certificates are trusted until they expire. */
  previous?: TrustedAuthority[] | undefined;
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
export const trustedIn = ({ authority, next, previous }: State): TrustedAuthority[] =>
  [authority, next, ...(previous ?? [])].filter((each) => each !== undefined);

/** The text of `ca.crt` and of each `caBundle`, before it becomes base64. */
export const bundleOf = (state: State): string => textOf(trustedIn(state));

/** The data of the Secret for a state. `ca.crt` is cert-manager's name for it. Other keys are removed. */
export function secretData(state: State): SecretData {
  const { authority, next, previous } = state;
  return {
    'tls.crt': authority.certificate,
    'tls.key': authority.key,
    'ca.crt': bundleOf(state),
    ...(next && { 'next.crt': next.certificate, 'next.key': next.key }),
    ...(previous && { 'previous.crt': textOf(previous) }),
  };
}

/** Reads the Secret's data. It uses no clock, so a reading is valid as long as the Secret stays the same. */
export function readSecret(data: SecretData): Reading {
  if (isEmpty(data)) return { faults: [fault('empty', 'the Secret is empty')] };
  const faults: Fault[] = [];
  const read = <Part>(part: string, text: string | undefined, parse: (pem: string) => Part) => {
    if (!text) return undefined;
    try {
      return parse(text);
    } catch (error) {
      if (!(error instanceof CniGateError)) throw error;
      const reason = error.code === 'CNI_GATE_TLS_PAIR' ? 'mismatch' : 'unreadable';
      faults.push(fault(reason, `the ${part}: ${error.message}`, error.code));
      return undefined;
    }
  };
  const withKey = (key: string) => (pem: string) => readAuthority(pem, data[key] ?? '');
  const authority = read('authority', data['tls.crt'] || ' ', withKey('tls.key'));
  const next = read('next authority', data['next.crt'], withKey('next.key'));
  const previous = read('previous authority', data['previous.crt'], readTrusted);
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

/** The certificates of authorities in a PEM text; others in it are ignored. */
const readTrusted = (pem: string): TrustedAuthority[] =>
  readCertificates(pem)
    .filter((x509) => x509.ca)
    .map(trusted);

const trusted = (x509: X509Certificate): TrustedAuthority => ({
  certificate: x509.toString(),
  fingerprint: x509.fingerprint256,
  ...periodOf(x509),
});

/** A fault of the Secret. */
export const fault = (
  reason: FaultReason,
  message: string,
  code: ErrorCode = 'CNI_GATE_TLS_SECRET',
): Fault => ({
  reason,
  code,
  message,
});

const textOf = (authorities: TrustedAuthority[]): string =>
  authorities.map(({ certificate }) => certificate).join('');

/** The fingerprints of the authorities in a caBundle; empty if there is none or it cannot be read. */
export function fingerprintsIn(bundle: string | undefined): Set<string> {
  try {
    return fingerprintsOf(readTrusted(bundle ?? ''));
  } catch {
    return new Set();
  }
}

/** The fingerprints of authorities. */
export const fingerprintsOf = (authorities: readonly TrustedAuthority[]): Set<string> =>
  new Set(authorities.map(({ fingerprint }) => fingerprint));

/** What is wrong with a caBundle that should contain exactly the authorities of `expected`; undefined if nothing is. */
export function bundleFault(bundle: string | undefined, expected: string): FaultReason | undefined {
  if (bundle === undefined || bundle.trim() === '') return 'empty';
  const [found, wanted] = [fingerprintsIn(bundle), fingerprintsIn(expected)];
  if (found.size === 0) return 'unreadable';
  if (!found.isSubsetOf(wanted)) return 'foreign';
  return found.size === wanted.size ? undefined : 'inconsistent';
}
