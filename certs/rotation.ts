import type { X509Certificate } from 'node:crypto';
import { CniGateError } from '../webhook/lib/errors.ts';
import { type Authority, checkAuthority, createAuthority } from './issue.ts';
import type { ConfigurationSnapshot } from './objects.ts';
import { inForce, type Period, periodOf, readCertificates, renewalDue } from './verify.ts';

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

/** An authority whose key belongs to its certificate. */
export type SigningAuthority = TrustedAuthority & Authority;

/** The labels of a metric, which are also in the documentation. */
export type FaultReason =
  | 'missing'
  | 'empty'
  | 'unreadable'
  | 'mismatch'
  | 'expired'
  | 'foreign'
  | 'inconsistent'
  | 'rolled-back';

/** One fault of the Secret: what was expected and what was seen. */
export interface Fault {
  reason: FaultReason;
  message: string;
}

/** The state in a Secret, or why the Secret cannot be used. */
export type Reading = Partial<State> & { faults: Fault[] };

/** The data of a Secret as text, before it becomes base64. */
export type SecretData = Readonly<Record<string, string>>;

/** Every authority of a state, the one that signs now first. */
export const trustedIn = ({ authority, next, previous }: Partial<State>): TrustedAuthority[] =>
  [authority, next, ...(previous ?? [])].filter((each) => each !== undefined);

/** The text of `ca.crt` and of each `caBundle`, before it becomes base64. */
export const bundleOf = (state: Partial<State>): string => textOf(trustedIn(state));

const textOf = (authorities: TrustedAuthority[]): string =>
  authorities.map(({ certificate }) => certificate).join('');

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

/**
 * Reads the Secret's data. Of a Secret that is damaged in a part, no part is used.
 *
 * @param data undefined if there is no Secret
 */
export function readSecret(data: SecretData | undefined, now: Date): Reading {
  const faulty = (reason: FaultReason, message: string): Reading => ({ faults: [{ reason, message }] });
  if (!data) return faulty('missing', 'the Secret does not exist');
  if (isEmpty(data)) return faulty('empty', 'the Secret is empty');
  try {
    const state = stateIn(data);
    // a next authority that a user adds by hand is not in it yet
    if (!fingerprintsIn(data['ca.crt']).has(state.authority.fingerprint))
      return faulty('inconsistent', 'ca.crt does not contain the authority of the Secret');
    if (inForce(state.authority, now)) return { ...state, faults: [] };
    const { notBefore, notAfter } = state.authority;
    const [from, to, at] = [notBefore, notAfter, now].map((date) => date.toISOString());
    return faulty('expired', `the authority is valid from ${from} to ${to}, and the clock says ${at}`);
  } catch (error) {
    if (!(error instanceof CniGateError)) throw error;
    const reason = error.code === 'CNI_GATE_TLS_PAIR' ? 'mismatch' : 'unreadable';
    return faulty(reason, `the Secret cannot be read: ${error.message}`);
  }
}

/** @throws CniGateError if a part of it cannot be read, or a key does not belong to its certificate */
function stateIn(data: SecretData): State {
  const { 'next.crt': next, 'previous.crt': previous } = data;
  return {
    authority: readAuthority(data['tls.crt'] ?? '', data['tls.key'] ?? ''),
    next: next ? readAuthority(next, data['next.key'] ?? '') : undefined,
    previous: previous ? readTrusted(previous) : undefined,
  };
}

/** Whether the data of a Secret contains nothing that could be lost. */
export function isEmpty(data: SecretData): boolean {
  return Object.values(data).every((text) => text.trim() === '');
}

/** @throws CniGateError as {@link checkAuthority} does */
function readAuthority(certificate: string, key: string): SigningAuthority {
  const [x509] = readCertificates(certificate);
  checkAuthority({ certificate, key });
  return { ...trusted(x509), key };
}

/** A new authority, as it is read from the Secret. */
export function newAuthority(days: number, now: Date): SigningAuthority {
  const { certificate, key } = createAuthority({ days, now });
  return readAuthority(certificate, key);
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

/** The fingerprints of the authorities in a caBundle; empty if there is none or it cannot be read. */
export function fingerprintsIn(bundle: string | undefined): Set<string> {
  try {
    return new Set(readTrusted(bundle ?? '').map(({ fingerprint }) => fingerprint));
  } catch {
    return new Set();
  }
}

/** What is wrong with a caBundle that should contain exactly the authorities of `expected`; undefined if nothing is. */
export function bundleFault(bundle: string, expected: string): FaultReason | undefined {
  if (bundle.trim() === '') return 'empty';
  const [found, wanted] = [fingerprintsIn(bundle), fingerprintsIn(expected)];
  if (found.size === 0) return 'unreadable';
  if (!found.isSubsetOf(wanted)) return 'foreign';
  return found.size === wanted.size ? undefined : 'inconsistent';
}

/** What a replica knows when it decides what to do next. */
export interface Observation {
  /** The Secret. */
  reading: Reading;
  /**
   * The last good state that this replica read or wrote. Only as long as the serving certificate that its authority
   * signed for this replica is valid: until then no replica can have dropped that authority.
   */
  remembered: State | undefined;
  /** The webhook configurations that exist. */
  configurations: readonly Pick<ConfigurationSnapshot, 'bundles'>[];
  /** The time by the clock that judges certificates: the API server's. */
  now: Date;
  /** Days that a new authority is valid. */
  authorityDays: number;
  /** Milliseconds for which this replica has observed `next` in every caBundle, by a monotonic clock. */
  trustedFor: number | undefined;
  /** Milliseconds for which an authority is in every caBundle before it signs what is served. */
  overlap: number;
}

/** The next thing to do. One at a time: the next reconciliation decides what follows. */
export interface Plan {
  /**
   * - `none`: all is well
   * - `create`: a new authority
   * - `restore`: write what this replica remembers
   * - `begin`: create the next authority
   * - `promote`: the next authority signs from now on, and the one that did is only trusted
   * - `drop`: remove the other authorities that have expired
   */
  step: 'none' | 'create' | 'restore' | 'begin' | 'promote' | 'drop';
  /** What the Secret has to say. */
  state: State;
  /** What the step repairs; empty if it is due by the calendar. */
  faults: Fault[];
}

/** Decides what to do about the Secret. */
export function planStep(observation: Observation): Plan {
  const { reading, remembered, configurations, now, authorityDays } = observation;
  const { faults, authority, next, previous } = reading;
  const found = authority && { authority, next, previous };
  if (remembered && !found) return { step: 'restore', state: remembered, faults };
  if (remembered && found && isOlder(found, remembered, configurations)) {
    const [old, own] = [found, remembered].map((state) => state.authority.fingerprint.slice(0, 11));
    const message = `the Secret has an authority (${old}…) that does not follow the one that is trusted (${own}…): was an older copy of it written back?`;
    return { step: 'restore', state: remembered, faults: [{ reason: 'rolled-back', message }] };
  }
  if (found) return { ...dueStep(found, observation), faults };
  const state = { authority: newAuthority(authorityDays, now) };
  // a Secret that was never there is no fault
  return { step: 'create', state, faults: faults.filter(({ reason }) => reason !== 'missing') };
}

/** What the calendar asks for. */
function dueStep(
  state: State,
  { now, authorityDays, trustedFor = -1, overlap }: Observation,
): Omit<Plan, 'faults'> {
  const { authority, next, previous } = state;
  const left = previous?.filter(({ notAfter }) => now <= notAfter);
  if (next && !inForce(next, now)) return { step: 'drop', state: { ...state, next: undefined } };
  if (left?.length !== previous?.length)
    return { step: 'drop', state: { ...state, previous: left?.length ? left : undefined } };
  if (next && trustedFor >= overlap) return { step: 'promote', state: promoted(authority, next, previous) };
  if (!next && renewalDue(authority, now))
    return { step: 'begin', state: { ...state, next: newAuthority(authorityDays, now) } };
  return { step: 'none', state };
}

/** The state in which `next` signs. */
function promoted(
  { key: _, ...trusted }: SigningAuthority,
  next: SigningAuthority,
  previous: TrustedAuthority[] = [],
): State {
  return { authority: next, previous: [trusted, ...previous] };
}

/**
 * Whether what was found is not a successor of what this replica remembers, and the caBundles were written from the
 * latter: they contain its authority, and nothing that is unknown to it.
 */
function isOlder(found: State, remembered: State, configurations: Observation['configurations']): boolean {
  const { fingerprint } = remembered.authority;
  const follows = [found.authority, ...(found.previous ?? [])].some((one) => one.fingerprint === fingerprint);
  const known = new Set(trustedIn(remembered).map((one) => one.fingerprint));
  const bundles = configurations.flatMap((each) => each.bundles.map(fingerprintsIn));
  return (
    !follows &&
    bundles.some((each) => each.has(fingerprint)) &&
    bundles.every((each) => each.isSubsetOf(known))
  );
}

/** Since when one replica has observed an authority in every caBundle, without interruption. */
export interface TrustedSince {
  /** The authority, and the versions of the configurations: after a change of one the time starts again. */
  what: string;
  /** Milliseconds of a monotonic clock. */
  since: number;
}

/**
 * Measures how long the next authority is trusted. A replica counts the time that it observed itself, by a monotonic
 * clock: a stored time would be over at once when the clock jumps, while an API server may not know the authority yet.
 *
 * @param before what this returned the last time that every configuration could be read
 * @param fingerprint of the next authority, if there is one
 * @param monotonicNow milliseconds of a monotonic clock, such as `performance.now()`
 * @returns undefined if a configuration does not trust the authority
 */
export function measureTrust(
  before: TrustedSince | undefined,
  fingerprint: string | undefined,
  configurations: readonly Pick<ConfigurationSnapshot, 'name' | 'version' | 'bundles'>[],
  monotonicNow: number,
): TrustedSince | undefined {
  if (fingerprint === undefined) return undefined;
  const bundles = configurations.flatMap((each) => each.bundles);
  if (!bundles.every((bundle) => fingerprintsIn(bundle).has(fingerprint))) return undefined;
  const versions = configurations.map(({ name, version }) => `${name} ${version}`);
  const what = [fingerprint, ...versions].join('\n');
  return before?.what === what ? before : { what, since: monotonicNow };
}
