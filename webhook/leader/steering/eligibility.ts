import type { ApiClient } from '../../cluster/client.ts';
import type { LeaderDeps } from '../controller.ts';
import type { SteerState } from '../metrics.ts';

/** From this version on, the scheduler uses other components' nominations (KEP-5278). */
const least: readonly [major: number, minor: number] = [1, 35];
export const leastVersion = least.join('.');

export interface ApiVersion {
  major: string;
  /** The minor version, which may end in `+`, such as `30+`. */
  minor: string;
  gitVersion: string;
}

export function usesNominations({ major, minor }: Pick<ApiVersion, 'major' | 'minor'>): boolean {
  const [is, wanted] = [Number.parseInt(major, 10), least[0]];
  return is > wanted || (is === wanted && Number.parseInt(minor, 10) >= least[1]);
}

/** Milliseconds until the version is read again, because the API server may be upgraded. */
const askAgain = 600_000;

/** Makes a function that returns the state of steering, or throws a ClusterError if the version cannot be read. */
export function eligibility(
  client: ApiClient,
  { leader, policy }: Pick<LeaderDeps<unknown>, 'leader' | 'policy'>,
): (signal: AbortSignal) => Promise<SteerState> {
  /** `until` is in milliseconds of a monotonic clock. */
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
