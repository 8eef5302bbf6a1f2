import { microTime } from '../../lib/time-text.ts';

export interface Lease {
  metadata: {
    resourceVersion?: string;
    annotations?: Record<string, string> | null;
    [key: string]: unknown;
  };
  spec?: LeaseSpec | null;
}

export interface LeaseSpec {
  /** Empty after a release. */
  holderIdentity?: string | null;
  leaseDurationSeconds?: number | null;
  acquireTime?: string | null;
  renewTime?: string | null;
  leaseTransitions?: number | null;
}

export interface Observation {
  lease: Lease | undefined;
  /** When the Lease was first read in this state, by this process's monotonic clock. */
  since: number;
}

/**
 * Records since when a Lease has not changed. The times in the Lease are not used: they are by its holder's clock.
 * @param now milliseconds of a monotonic clock
 */
export function observe(before: Observation | undefined, lease: Lease | undefined, now: number): Observation {
  const same = before !== undefined && versionOf(before.lease) === versionOf(lease);
  return { lease, since: same ? before.since : now };
}

const versionOf = (lease: Lease | undefined): string | undefined => lease?.metadata.resourceVersion;

/** Milliseconds after which an unchanged Lease is free, even if its duration is longer. Replicas write 15 s. */
const longestDuration = 60_000;

/** Whether this process may create the Lease, renew it, or take it over. */
export function mayHold({ lease, since }: Observation, identity: string, now: number): boolean {
  const { holderIdentity, leaseDurationSeconds } = lease?.spec ?? {};
  const duration = Math.min((leaseDurationSeconds ?? 0) * 1000, longestDuration);
  return !holderIdentity || holderIdentity === identity || now - since > duration;
}

/** The spec with which a process creates, takes or renews a Lease. @param duration milliseconds */
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

/** The spec that releases a Lease as client-go does, so that the next holder need not wait. */
export function released({ spec }: Lease, time: Date): LeaseSpec {
  const now = microTime(time);
  const leaseTransitions = spec?.leaseTransitions ?? 0;
  return { holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now, leaseTransitions };
}
