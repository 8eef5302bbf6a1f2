import { type TrustSight, trustedEverywhere } from './trust.ts';

/** Since when one replica has seen an authority trusted, without a break. */
export interface Watched {
  fingerprint: string;
  /** The configurations as they were at that time: one that was changed since begins anew. */
  versions: string;
  /** Milliseconds of a clock that only runs forward. */
  since: number;
}

/**
 * Watches the trust in the authority that comes next. A replica counts the time that it has seen itself, by a clock
 * that nobody can set: a time written down by somebody would have passed at once when the clock jumps, while an API
 * server may not know the new authority yet.
 *
 * @param before what this returned at the last look
 * @param steady milliseconds of a clock that only runs forward, such as `performance.now()`
 * @returns undefined where the authority is not trusted everywhere
 */
export function watchTrust(
  before: Watched | undefined,
  fingerprint: string | undefined,
  sight: TrustSight,
  steady: number,
): Watched | undefined {
  if (fingerprint === undefined || !trustedEverywhere(sight, fingerprint)) return undefined;
  const versions = sight.configurations.map(({ name, version }) => `${name} ${version}`).join('\n');
  const same = before?.fingerprint === fingerprint && before.versions === versions;
  return { fingerprint, versions, since: same ? before.since : steady };
}
