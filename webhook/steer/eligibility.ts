import type { Policy } from '../config/policy.ts';
import type { ApiClient } from '../kubernetes/client.ts';
import type { Log } from '../lib/deps.ts';
import type { SteerState } from './metrics.ts';
import { askVersion, goesByNominations, leastVersion } from './version.ts';

export interface Leadership {
  readonly leads: boolean;
  subscribe(changed: () => void): () => void;
}

/** How often an API server is asked for its version that was too old, in milliseconds. */
const askAgain = 600_000;

/** Whether this replica is the one to steer, and may. What keeps it from that for long is told once. */
export class Eligibility {
  readonly #client: ApiClient;
  readonly #leader: Leadership | undefined;
  readonly #log: Log;
  #state: SteerState | undefined;
  /** Whether the API server is new enough, and when that was asked, by the clock that does not go back. */
  #version: { enough: boolean; asked: number } | undefined;

  /** @param leader undefined where there can be none */
  constructor(client: ApiClient, leader: Leadership | undefined, log: Log) {
    this.#client = client;
    this.#leader = leader;
    this.#log = log;
  }

  /**
   * The state now, and whether it is another than before.
   *
   * @throws ClusterError where the API server had to be asked for its version and could not
   */
  async check(policy: Policy, signal: AbortSignal): Promise<{ state: SteerState; isNew: boolean }> {
    const state = await this.#now(policy, signal);
    const isNew = state !== this.#state;
    this.#state = state;
    // who leads again later asks anew: an upgrade may have come meanwhile
    if (state === 'standby') this.#version = undefined;
    if (isNew && state === 'no-namespace') {
      this.#log.warn({}, notSent('--own-namespace is not given, where the Lease of the leader would be'));
    }
    return { state, isNew };
  }

  async #now({ steer }: Policy, signal: AbortSignal): Promise<SteerState> {
    if (steer.mode === 'off') return 'off';
    if (this.#leader === undefined) return 'no-namespace';
    if (!this.#leader.leads) return 'standby';
    return (await this.#isNewEnough(signal)) ? 'steering' : 'api-server-too-old';
  }

  async #isNewEnough(signal: AbortSignal): Promise<boolean> {
    const now = performance.now();
    const known = this.#version;
    if (known?.enough || (known !== undefined && now - known.asked < askAgain)) return known.enough;
    const version = await askVersion(this.#client, signal);
    const enough = goesByNominations(version);
    this.#version = { enough, asked: now };
    if (!enough && known === undefined) {
      const { gitVersion } = version;
      const why = `the API server is ${gitVersion}, schedulers go by nominations from ${leastVersion} on`;
      // no warning: these versions are supported, and nobody has to do anything; status and the metric tell it too
      this.#log.info({ gitVersion }, notSent(why));
    }
    return enough;
  }
}

const notSent = (why: string): string => `pods that are refused are not sent elsewhere: ${why}`;
