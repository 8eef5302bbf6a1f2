import type { X509Certificate } from 'node:crypto';
import { CniGateError } from '../webhook/lib/errors.ts';
import { type Authority, checkAuthority, createAuthority } from './issue.ts';
import type { ConfigurationSnapshot, SecretData } from './objects.ts';
import { inForce, type Period, periodOf, readCertificates, renewalDue } from './verify.ts';

/** The state that all replicas share. It is stored in the Secret, so that any replica can continue a rotation. */
export interface State {
  authority: SigningAuthority;
  /** The next authority, already in the caBundles. It begins to sign when every API server trusts it. */
  next?: SigningAuthority | undefined;
  /** Earlier authorities, the latest first, without keys. Each authority is trusted until it expires. */
  previous?: TrustedAuthority[] | undefined;
}

export interface TrustedAuthority extends Period {
  certificate: string;
  /** SHA-256 of the certificate, in hexadecimal. */
  fingerprint: string;
}

export type SigningAuthority = TrustedAuthority & Authority;

/** The values of a metric's label: docs/reference/metrics.md. */
export type FaultReason = 'missing' | 'empty' | 'damaged' | 'expired' | 'foreign';

export interface Fault {
  reason: FaultReason;
  message: string;
}

export type Reading = { state: State; fault?: undefined } | { state?: undefined; fault: Fault };

export const trustedIn = ({ authority, next, previous = [] }: State): TrustedAuthority[] =>
  next ? [authority, next, ...previous] : [authority, ...previous];

export const bundleOf = (state: State): string => textOf(trustedIn(state));

const textOf = (authorities: TrustedAuthority[]): string =>
  authorities.map(({ certificate }) => certificate).join('');

/** The data to store in the Secret; all other keys are removed. `ca.crt` is the caBundle, as in cert-manager. */
export function secretData(state: State): SecretData {
  const { authority, next, previous = [] } = state;
  return {
    'tls.crt': authority.certificate,
    'tls.key': authority.key,
    'ca.crt': bundleOf(state),
    ...(next && { 'next.crt': next.certificate, 'next.key': next.key }),
    ...(previous.length > 0 && { 'previous.crt': textOf(previous) }),
  };
}

/** Reads the Secret's data. If any part is damaged, no part is used. */
export function readSecret(data: SecretData | undefined, now: Date): Reading {
  const faulty = (reason: FaultReason, message: string): Reading => ({ fault: { reason, message } });
  if (!data) return faulty('missing', 'the Secret does not exist');
  if (isEmpty(data)) return faulty('empty', 'the Secret is empty');
  try {
    const { 'next.crt': next, 'previous.crt': previous } = data;
    const state: State = {
      authority: readAuthority(data['tls.crt'] ?? '', data['tls.key'] ?? ''),
      next: next ? readAuthority(next, data['next.key'] ?? '') : undefined,
      previous: previous ? readTrusted(previous) : [],
    };
    const { notBefore, notAfter, fingerprint } = state.authority;
    // ca.crt may lack `next`: a user who adds the next authority by hand need not change ca.crt
    if (!fingerprintsIn(data['ca.crt']).has(fingerprint))
      return faulty('damaged', 'ca.crt does not contain the authority of the Secret');
    if (inForce(state.authority, now)) return { state };
    const [from, to, at] = [notBefore, notAfter, now].map((date) => date.toISOString());
    return faulty('expired', `the authority is valid from ${from} to ${to}, and the clock says ${at}`);
  } catch (error) {
    if (!(error instanceof CniGateError)) throw error;
    return faulty('damaged', `the Secret cannot be read: ${error.message}`);
  }
}

export function isEmpty(data: SecretData): boolean {
  return Object.values(data).every((text) => text.trim() === '');
}

/** @throws CniGateError as {@link checkAuthority} */
function readAuthority(certificate: string, key: string): SigningAuthority {
  const [x509] = readCertificates(certificate);
  checkAuthority({ certificate, key });
  return { ...trusted(x509), key };
}

export function newAuthority(days: number, now: Date): SigningAuthority {
  const { certificate, key } = createAuthority({ days, now });
  return readAuthority(certificate, key);
}

/** The authorities in a PEM text; other certificates are ignored. */
const readTrusted = (pem: string): TrustedAuthority[] =>
  readCertificates(pem)
    .filter((x509) => x509.ca)
    .map(trusted);

const trusted = (x509: X509Certificate): TrustedAuthority => ({
  certificate: x509.toString(),
  fingerprint: x509.fingerprint256,
  ...periodOf(x509),
});

/** The fingerprints of the authorities in a caBundle; empty if the caBundle cannot be read. */
export function fingerprintsIn(bundle: string | undefined): Set<string> {
  try {
    return new Set(readTrusted(bundle ?? '').map(({ fingerprint }) => fingerprint));
  } catch {
    return new Set();
  }
}

/** Why a caBundle does not have exactly the authorities of `expected`; undefined if it has. */
export function bundleFault(bundle: string, expected: string): FaultReason | undefined {
  if (bundle.trim() === '') return 'empty';
  const [found, wanted] = [fingerprintsIn(bundle), fingerprintsIn(expected)];
  if (!found.isSubsetOf(wanted)) return 'foreign';
  return found.size === wanted.size ? undefined : 'damaged';
}

/** The validity of an authority in days. */
const authorityDays = 365;

export interface Observation {
  reading: Reading;
  /**
   * The last valid state that this replica read or wrote; undefined if the replica's serving certificate is not valid.
   * While that certificate is valid, no replica can have dropped the authority that signed it.
   */
  remembered: State | undefined;
  /** The time by the API server's clock, which decides whether a certificate is valid. */
  now: Date;
  /** For how many milliseconds this replica has observed `next` in every caBundle. */
  trustedFor: number | undefined;
  /** How many milliseconds an authority must be in every caBundle before it signs. */
  overlap: number;
}

/** The next step. Later steps are decided in later reconciliations. */
export interface Plan {
  /**
   * `create` an authority, `restore` the remembered state, `begin` the next authority, `promote` it to sign, or `drop`
   * previous authorities that have expired.
   */
  step: 'none' | 'create' | 'restore' | 'begin' | 'promote' | 'drop';
  state: State;
  /** The fault that the step repairs; undefined if the step is part of a normal rotation. */
  fault?: Fault | undefined;
}

export function planStep(observation: Observation): Plan {
  const { reading, remembered, now } = observation;
  const { state, fault } = reading;
  if (state) return dueStep(state, observation);
  if (remembered) return { step: 'restore', state: remembered, fault };
  return {
    step: 'create',
    state: { authority: newAuthority(authorityDays, now) },
    // a missing Secret is no fault, because at first it does not exist yet
    fault: fault.reason === 'missing' ? undefined : fault,
  };
}

function dueStep(state: State, { now, trustedFor = -1, overlap }: Observation): Plan {
  const { authority, next, previous = [] } = state;
  const valid = previous.filter(({ notAfter }) => now <= notAfter);
  if (valid.length < previous.length) return { step: 'drop', state: { ...state, previous: valid } };
  if (next && inForce(next, now) && trustedFor >= overlap) {
    const { key: _, ...withoutKey } = authority;
    return { step: 'promote', state: { authority: next, previous: [withoutKey, ...previous] } };
  }
  if (!next && renewalDue(authority, now))
    return { step: 'begin', state: { ...state, next: newAuthority(authorityDays, now) } };
  return { step: 'none', state };
}

/** Since when a replica has seen an authority in every caBundle, without interruption. */
export interface TrustedSince {
  fingerprint: string;
  /** Milliseconds of a monotonic clock. */
  since: number;
}

/**
 * Measures for how long the next authority has been trusted, by this replica's monotonic clock. If a wall-clock time
 * was stored instead, a clock change could let the authority sign before every API server trusts it.
 * @param before the result of the previous call
 * @param fingerprint the fingerprint of the next authority
 */
export function measureTrust(
  before: TrustedSince | undefined,
  fingerprint: string | undefined,
  configurations: readonly Pick<ConfigurationSnapshot, 'bundles'>[],
  monotonicNow: number,
): TrustedSince | undefined {
  if (fingerprint === undefined) return undefined;
  const bundles = configurations.flatMap((configuration) => configuration.bundles);
  if (!bundles.every((bundle) => fingerprintsIn(bundle).has(fingerprint))) return undefined;
  return before?.fingerprint === fingerprint ? before : { fingerprint, since: monotonicNow };
}
