import type { ApiClient } from '../../cluster/client.ts';
import type { LeaderDeps } from '../controller.ts';
import type { SteerState } from '../metrics.ts';

/**
 * The scheduler uses nominations by others from this version on. Source: KEP-5278, feature
 * NominatedNodeNameForExpectation, beta and on by default.
 */
const least: readonly [major: number, minor: number] = [1, 35];
/** The same for people. */
export const leastVersion = least.join('.');

/** What an API server says of its version. `gitVersion` is for people. */
export interface ApiVersion {
  major: string;
  /** May end in `+`, such as `30+`. */
  minor: string;
  gitVersion: string;
}

/** Whether the scheduler of an API server with this version uses nominations. */
export function usesNominations({ major, minor }: Pick<ApiVersion, 'major' | 'minor'>): boolean {
  const [is, wanted] = [Number.parseInt(major, 10), least[0]];
  return is > wanted || (is === wanted && Number.parseInt(minor, 10) >= least[1]);
}

/** How often the leader asks for the API server's version, in milliseconds: it may be upgraded. */
const askAgain = 600_000;

/**
 * Returns the function that finds out whether this replica steers. It throws a ClusterError where the API server does not
 * tell its version.
 */
export function eligibility(
  client: ApiClient,
  { leader, policy }: Pick<LeaderDeps<unknown>, 'leader' | 'policy'>,
): (signal: AbortSignal) => Promise<SteerState> {
  /** Whether the API server is new enough, and until when that is known, on a monotonic clock. */
  let known: { enough: boolean; until: number } | undefined;
  const isNewEnough = async (signal: AbortSignal): Promise<boolean> => {
    if (known !== undefined && performance.now() < known.until) return known.enough;
    const version = await client.request<ApiVersion>('GET', '/version', { signal });
    known = { enough: usesNominations(version), until: performance.now() + askAgain };
    return known.enough;
  };
  return async (signal) => {
    if (policy().steer.mode === 'off') return 'off';
    if (leader === undefined) return 'no-namespace';
    if (!leader.leads) return 'standby';
    return (await isNewEnough(signal)) ? 'steering' : 'api-server-too-old';
  };
}
