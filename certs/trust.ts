import { inForce } from './period.ts';
import { type FaultReason, readTrusted, type State, type TrustedAuthority, trustedIn } from './state.ts';

/** What one webhook configuration trusts. */
export interface ConfigurationTrust {
  /** `mutating/NAME` or `validating/NAME`. */
  name: string;
  /** Changes with each change of the object: its uid and generation. */
  version: string;
  /** The caBundles, PEM, of those of its webhooks that call our Service; undefined where one has none. */
  bundles: (string | undefined)[];
}

/** What all webhook configurations trust. */
export interface TrustObservation {
  /** Those that exist. */
  configurations: ConfigurationTrust[];
  /** Whether all could be read; one that does not exist counts as read. */
  complete: boolean;
}

/** The fingerprints in a caBundle; empty where there is none or it cannot be read. */
export function fingerprintsIn(bundle: string | undefined): Set<string> {
  return new Set(readBundle(bundle).map(({ fingerprint }) => fingerprint));
}

/** The fingerprints of all authorities of a state. */
export function trustedBy(state: State): Set<string> {
  return new Set(trustedIn(state).map(({ fingerprint }) => fingerprint));
}

/** What is wrong with a caBundle that should contain exactly `expected`, or undefined where nothing is. */
export function bundleFault(bundle: string | undefined, expected: string): FaultReason | undefined {
  if (bundle === undefined || bundle.trim() === '') return 'empty';
  const [found, wanted] = [fingerprintsIn(bundle), fingerprintsIn(expected)];
  if (found.size === 0) return 'unreadable';
  if (!found.isSubsetOf(wanted)) return 'foreign';
  return found.size === wanted.size ? undefined : 'inconsistent';
}

/** Whether any webhook of ours trusts an authority. */
export function trustedAnywhere({ configurations }: TrustObservation, fingerprint: string): boolean {
  return bundlesOf(configurations).some((bundle) => fingerprintsIn(bundle).has(fingerprint));
}

/**
 * Whether the caBundles were written from a state: they contain nothing that is unknown to it, and at least one
 * contains its authority. Then it is newer than whatever else claims to be the state.
 */
export function matchesTrust(state: State, trust: TrustObservation): boolean {
  const known = trustedBy(state);
  return (
    trustedAnywhere(trust, state.authority.fingerprint) &&
    bundlesOf(trust.configurations).every((bundle) => fingerprintsIn(bundle).isSubsetOf(known))
  );
}

/**
 * Whether the caBundles contain any valid authority, which another replica may still know.
 *
 * @param ignored fingerprints of authorities that do not count
 */
export function trustsAnybody(
  { configurations }: TrustObservation,
  now: Date,
  ignored: ReadonlySet<string> = new Set(),
): boolean {
  return bundlesOf(configurations)
    .flatMap(readBundle)
    .some((authority) => inForce(authority, now) && !ignored.has(authority.fingerprint));
}

/** Since when one replica has observed an authority in every caBundle, without interruption. */
export interface TrustedSince {
  fingerprint: string;
  /** The versions of the configurations: after a change of one the time starts again. */
  versions: string;
  /** Milliseconds of a monotonic clock. */
  since: number;
}

/**
 * Measures how long the next authority is trusted. A replica counts the time that it observed itself, by a monotonic
 * clock: a stored time would be over at once when the clock jumps, while an API server may not know the authority yet.
 *
 * @param before what this returned the last time
 * @param fingerprint of the next authority, if there is one
 * @param monotonicNow milliseconds of a monotonic clock, such as `performance.now()`
 * @returns undefined where the authority is not trusted everywhere
 */
export function measureTrust(
  before: TrustedSince | undefined,
  fingerprint: string | undefined,
  { configurations, complete }: TrustObservation,
  monotonicNow: number,
): TrustedSince | undefined {
  const everywhere = bundlesOf(configurations).every((bundle) =>
    fingerprintsIn(bundle).has(fingerprint ?? ''),
  );
  if (fingerprint === undefined || !complete || !everywhere) return undefined;
  const versions = configurations.map(({ name, version }) => `${name} ${version}`).join('\n');
  const same = before?.fingerprint === fingerprint && before.versions === versions;
  return { fingerprint, versions, since: same ? before.since : monotonicNow };
}

function readBundle(bundle: string | undefined): TrustedAuthority[] {
  try {
    return readTrusted(bundle ?? '');
  } catch {
    return [];
  }
}

function bundlesOf(configurations: ConfigurationTrust[]): (string | undefined)[] {
  return configurations.flatMap(({ bundles }) => bundles);
}
