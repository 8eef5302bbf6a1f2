import type { FaultReason } from './fault.ts';
import { type CertificateFacts, inForce, readTrusted } from './parts.ts';
import type { ReadState } from './reading.ts';

/** What one webhook configuration was seen to trust. */
export interface ConfigurationSight {
  /** `mutating/NAME` or `validating/NAME`. */
  name: string;
  /** Changes with each change of the object: its uid and generation. */
  version: string;
  /** The caBundles, PEM, of those of its webhooks that call our Service; undefined where one has none. */
  bundles: (string | undefined)[];
}

/** All webhook configurations, as seen in one look. */
export interface TrustSight {
  /** Those that are there. */
  configurations: ConfigurationSight[];
  /** Whether all that were asked for could be read; one that does not exist was read. */
  complete: boolean;
}

/** The fingerprints of all authorities of a state. */
export function trustedBy({ authority, next, previous }: Omit<ReadState, 'leaf'>): Set<string> {
  const facts = [authority.facts, next?.facts, ...(previous?.facts ?? [])];
  return new Set(facts.flatMap((each) => (each ? [each.fingerprint] : [])));
}

/** The fingerprints in a caBundle; empty where there is none or it cannot be read. */
export function fingerprintsIn(bundle: string | undefined): Set<string> {
  return new Set(trustedIn(bundle).map(({ fingerprint }) => fingerprint));
}

function trustedIn(bundle: string | undefined): CertificateFacts[] {
  try {
    return readTrusted(bundle ?? '').map(({ facts }) => facts);
  } catch {
    return [];
  }
}

/** What is wrong with a caBundle that should hold exactly `wanted`, or undefined where nothing is. */
export function bundleFault(bundle: string | undefined, wanted: string): FaultReason | undefined {
  if (bundle === undefined || bundle.trim() === '') return 'empty';
  const [seen, asked] = [fingerprintsIn(bundle), fingerprintsIn(wanted)];
  if (seen.size === 0) return 'unreadable';
  if (!seen.isSubsetOf(asked)) return 'foreign';
  return seen.size === asked.size ? undefined : 'inconsistent';
}

/** Whether every webhook of ours trusts an authority, as far as configurations exist; unknown reads as no. */
export function trustedEverywhere({ configurations, complete }: TrustSight, fingerprint: string): boolean {
  return complete && bundlesOf(configurations).every((bundle) => fingerprintsIn(bundle).has(fingerprint));
}

/** Whether any webhook of ours trusts an authority. */
export function trustedAnywhere({ configurations }: TrustSight, fingerprint: string): boolean {
  return bundlesOf(configurations).some((bundle) => fingerprintsIn(bundle).has(fingerprint));
}

/**
 * Whether a state is the one that the caBundles were made from: nothing in them is unknown to it, and its authority
 * is in one of them at least. Then it is younger than whatever else claims to be the state.
 */
export function matchesTrust(state: ReadState, trust: TrustSight): boolean {
  const known = trustedBy(state);
  const seen = bundlesOf(trust.configurations).map(fingerprintsIn);
  return (
    trustedAnywhere(trust, state.authority.facts.fingerprint) && seen.every((each) => each.isSubsetOf(known))
  );
}

/**
 * Whether the caBundles hold any authority that is in force, and so may be one that a replica still knows.
 *
 * @param but fingerprints of those that do not count
 */
export function trustsAnybody(
  { configurations }: TrustSight,
  now: Date,
  but: ReadonlySet<string> = new Set(),
): boolean {
  return bundlesOf(configurations)
    .flatMap(trustedIn)
    .some((facts) => inForce(facts, now) && !but.has(facts.fingerprint));
}

function bundlesOf(configurations: ConfigurationSight[]): (string | undefined)[] {
  return configurations.flatMap(({ bundles }) => bundles);
}
