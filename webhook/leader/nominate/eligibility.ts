import type { ApiClient } from '../../cluster/client.ts';
import type { Leadership } from '../../cluster/lease/leadership.ts';
import type { Policy } from '../../config/policy.ts';
import type { Log } from '../../lib/deps.ts';
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
  /** May end in a sign. */
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

/** Finds out whether this replica steers. */
export class Eligibility {
  readonly #client: ApiClient;
  readonly #leader: Leadership | undefined;
  readonly #log: Log;
  /** Whether the API server is new enough, and until when that is known, on a monotonic clock. */
  #version: { enough: boolean; until: number } | undefined;

  /** @param leader undefined where there can be none */
  constructor(client: ApiClient, leader: Leadership | undefined, log: Log) {
    this.#client = client;
    this.#leader = leader;
    this.#log = log;
  }

  /**
   * Finds out the state.
   *
   * @throws ClusterError where the API server does not tell its version
   */
  async check({ steer }: Policy, signal: AbortSignal): Promise<SteerState> {
    if (steer.mode === 'off') return 'off';
    if (this.#leader === undefined) return 'no-namespace';
    if (!this.#leader.leads) return 'standby';
    return (await this.#isNewEnough(signal)) ? 'steering' : 'api-server-too-old';
  }

  async #isNewEnough(signal: AbortSignal): Promise<boolean> {
    const known = this.#version;
    if (known !== undefined && performance.now() < known.until) return known.enough;
    const version = await this.#client.request<ApiVersion>('GET', '/version', { signal });
    const enough = usesNominations(version);
    this.#version = { enough, until: performance.now() + askAgain };
    if (!enough && known?.enough !== false) {
      const { gitVersion } = version;
      const why = `the API server is ${gitVersion}, and schedulers use nominations from ${leastVersion} on`;
      // no warning: these versions are supported; status and the metric show it too
      this.#log.info({ gitVersion }, `refused pods are not steered: ${why}`);
    }
    return enough;
  }
}
