import { microTime } from '../../lib/time-text.ts';

/** A Lease of `coordination.k8s.io/v1`, as far as it is read and written here. */
export interface Lease {
  metadata: {
    resourceVersion?: string;
    annotations?: Record<string, string> | null;
    [key: string]: unknown;
  };
  spec?: LeaseSpec | null;
}

/** The fields of a Lease's spec. */
export interface LeaseSpec {
  /** Empty after the holder released it. */
  holderIdentity?: string | null;
  leaseDurationSeconds?: number | null;
  acquireTime?: string | null;
  renewTime?: string | null;
  leaseTransitions?: number | null;
}

/** A Lease as it was read, undefined where there is none. */
export interface Observation {
  lease: Lease | undefined;
  /** When it was first read in this state, on this process's clock. */
  since: number;
}

/**
 * The next observation. Times in a Lease are those of its holder's clock. So only the time without a change counts, on
 * this process's clock.
 *
 * @param now milliseconds of a monotonic clock
 */
export function observe(before: Observation | undefined, lease: Lease | undefined, now: number): Observation {
  const same = before !== undefined && versionOf(before.lease) === versionOf(lease);
  return { lease, since: same ? before.since : now };
}

const versionOf = (lease: Lease | undefined): string | undefined => lease?.metadata.resourceVersion;

/** A Lease without a change for this time is free, whatever its duration says: replicas write 15 s. Milliseconds. */
const longestDuration = 60_000;

/**
 * Whether this process may create the Lease, renew it, or take it over.
 *
 * @param now of the same clock as for {@link observe}
 */
export function mayHold({ lease, since }: Observation, identity: string, now: number): boolean {
  const { holderIdentity, leaseDurationSeconds } = lease?.spec ?? {};
  const duration = Math.min((leaseDurationSeconds ?? 0) * 1000, longestDuration);
  return !holderIdentity || holderIdentity === identity || now - since > duration;
}

/**
 * The spec of a Lease that this process creates, renews or takes over.
 *
 * @param duration milliseconds
 * @param time of the wall clock, for people and for other implementations
 */
export function heldBy(
  lease: Lease | undefined,
  { identity, duration, time }: { identity: string; duration: number; time: Date },
): LeaseSpec {
  const { holderIdentity, acquireTime, leaseTransitions } = lease?.spec ?? {};
  const renews = holderIdentity === identity;
  const now = microTime(time);
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(duration / 1000),
    acquireTime: renews ? (acquireTime ?? now) : now,
    renewTime: now,
    leaseTransitions: (leaseTransitions ?? 0) + (renews || lease === undefined ? 0 : 1),
  };
}

/** The spec after its holder has released it, as client-go writes it. The next holder need not wait. */
export function released({ spec }: Lease, time: Date): LeaseSpec {
  const now = microTime(time);
  const leaseTransitions = spec?.leaseTransitions ?? 0;
  return { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now, leaseTransitions };
}
