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

/** What to do next: create the Lease, take it over, renew it, or leave it to its holder. */
export type Move = 'create' | 'take' | 'renew' | 'wait';

/** @param now of the same clock as for {@link observe} */
export function nextMove({ lease, since }: Observation, identity: string, now: number): Move {
  if (lease === undefined) return 'create';
  const { holderIdentity, leaseDurationSeconds } = lease.spec ?? {};
  if (holderIdentity === identity) return 'renew';
  // the holder has released it
  if (!holderIdentity) return 'take';
  return now - since > (leaseDurationSeconds ?? 0) * 1000 ? 'take' : 'wait';
}

/**
 * The Lease after the move.
 *
 * @param duration milliseconds
 * @param time of the wall clock, for people and for other implementations
 */
export function heldBy(
  lease: Lease | undefined,
  move: Exclude<Move, 'wait'>,
  { identity, duration, time }: { identity: string; duration: number; time: Date },
): LeaseSpec {
  const { acquireTime, leaseTransitions } = lease?.spec ?? {};
  const now = microTime(time);
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(duration / 1000),
    acquireTime: move === 'renew' ? (acquireTime ?? now) : now,
    renewTime: now,
    leaseTransitions: move === 'take' ? (leaseTransitions ?? 0) + 1 : (leaseTransitions ?? 0),
  };
}

/** The Lease after its holder has released it, as client-go writes it. The next holder need not wait. */
export function released(lease: Lease, time: Date): LeaseSpec {
  const now = microTime(time);
  const { leaseTransitions } = lease.spec ?? {};
  return {
    holderIdentity: '',
    leaseDurationSeconds: 1,
    acquireTime: now,
    renewTime: now,
    leaseTransitions: leaseTransitions ?? 0,
  };
}
