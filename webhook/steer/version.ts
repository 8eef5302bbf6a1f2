import type { ApiClient } from '../kubernetes/client.ts';

/**
 * The scheduler goes by nominations of others from this version on (feature NominatedNodeNameForExpectation, KEP-5278,
 * beta and on by default).
 */
const least: readonly [major: number, minor: number] = [1, 35];

/** Whether the scheduler of an API server with this version goes by nominations. `minor` may end in a sign. */
export function goesByNominations({ major, minor }: { major: string; minor: string }): boolean {
  const [is, wanted] = [Number.parseInt(major, 10), least[0]];
  return is > wanted || (is === wanted && Number.parseInt(minor, 10) >= least[1]);
}

/** Asks the API server for its version: `gitVersion` is for people. */
export function askVersion(
  client: ApiClient,
  signal: AbortSignal,
): Promise<{ major: string; minor: string; gitVersion: string }> {
  return client.request('GET', '/version', { signal });
}

export const leastVersion = least.join('.');
