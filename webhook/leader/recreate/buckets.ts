import { getOrMake } from '../../lib/get-or-make.ts';
import { TokenBucket } from '../../lib/token-bucket.ts';

/** A bucket of {@link Buckets}: what it limits, and how many tokens it gets in a minute. */
export interface Limit {
  key: string;
  perMinute: number;
}

/**
 * Token buckets: what each limits takes a token. A full one holds half of the tokens of a minute. Times are milliseconds
 * of a monotonic clock.
 */
export class Buckets {
  readonly #buckets = new Map<string, { bucket: TokenBucket; burst: number }>();

  /** Whether each of these has a token. */
  have(limits: readonly Limit[], now: number): boolean {
    return limits.every((limit) => this.#of(limit).left(now) >= 1);
  }

  /** Takes a token of each. */
  take(limits: readonly Limit[]): void {
    for (const limit of limits) this.#of(limit).take(1);
  }

  /** Forgets the buckets that are full: a new one is the same. */
  forgetFull(now: number): void {
    for (const [key, { bucket, burst }] of this.#buckets) {
      if (bucket.left(now) >= burst) this.#buckets.delete(key);
    }
  }

  #of({ key, perMinute }: Limit): TokenBucket {
    const burst = Math.max(1, Math.ceil(perMinute / 2));
    // another rate, another bucket
    const made = getOrMake(this.#buckets, `${perMinute} ${key}`, () => ({
      bucket: new TokenBucket(perMinute / 60, burst),
      burst,
    }));
    return made.bucket;
  }
}
