import type { ApiClient } from '../../cluster/client.ts';
import type { Leadership } from '../../cluster/lease/leadership.ts';
import type { Policy } from '../../config/policy.ts';
import type { Log } from '../../lib/deps.ts';
import type { SteerState } from './metrics.ts';

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

/** Requests the version of the API server. @throws ClusterError */
export const askVersion = (client: ApiClient, signal: AbortSignal): Promise<ApiVersion> =>
  client.request('GET', '/version', { signal });

/** How often an API server that is too old is asked for its version, in milliseconds. */
const askAgain = 600_000;

/** Finds out whether this replica steers. It logs a lasting reason against that once. */
export class Eligibility {
  readonly #client: ApiClient;
  readonly #leader: Leadership | undefined;
  readonly #log: Log;
  #state: SteerState | undefined;
  /** Whether the API server is new enough, and when it was asked, on a monotonic clock. */
  #version: { enough: boolean; asked: number } | undefined;

  /** @param leader undefined where there can be none */
  constructor(client: ApiClient, leader: Leadership | undefined, log: Log) {
    this.#client = client;
    this.#leader = leader;
    this.#log = log;
  }

  /** The state of the last {@link check}; undefined before the first. */
  get state(): SteerState | undefined {
    return this.#state;
  }

  /**
   * Finds out the state.
   *
   * @throws ClusterError where the API server does not tell its version
   */
  async check({ steer }: Policy, signal: AbortSignal): Promise<SteerState> {
    const state = await this.#now(steer.mode, signal);
    if (state === 'no-namespace' && this.#state !== state) {
      this.#log.warn({}, notSteered('--own-namespace, the namespace of the Lease, is not set'));
    }
    this.#state = state;
    return state;
  }

  async #now(mode: Policy['steer']['mode'], signal: AbortSignal): Promise<SteerState> {
    if (mode === 'off') return 'off';
    if (this.#leader === undefined) return 'no-namespace';
    if (this.#leader.leads) return (await this.#isNewEnough(signal)) ? 'steering' : 'api-server-too-old';
    // the API server may be upgraded before this replica leads again
    this.#version = undefined;
    return 'standby';
  }

  async #isNewEnough(signal: AbortSignal): Promise<boolean> {
    const now = performance.now();
    const known = this.#version;
    if (known?.enough || (known !== undefined && now - known.asked < askAgain)) return known.enough;
    const version = await askVersion(this.#client, signal);
    const enough = usesNominations(version);
    this.#version = { enough, asked: now };
    if (!enough && known === undefined) {
      const { gitVersion } = version;
      const why = `the API server is ${gitVersion}, and schedulers use nominations from ${leastVersion} on`;
      // no warning: these versions are supported; status and the metric show it too
      this.#log.info({ gitVersion }, notSteered(why));
    }
    return enough;
  }
}

const notSteered = (why: string): string => `refused pods are not steered: ${why}`;
