import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../lib/deps.ts';
import { messageOf } from '../../lib/errors.ts';
import { apiPath, pathBelow } from '../api-path.ts';
import type { ApiClient } from '../client.ts';
import { ClusterError } from '../errors.ts';
import { heldBy, type Lease, type Move, nextMove, type Observation, observe, released } from './move.ts';

/** Milliseconds. */
export interface LeaseTimes {
  /** After so long without a change of the Lease, others may take it. Whole seconds. */
  duration: number;
  /** After so long without a renewal that worked, the holder counts itself out. Shorter than the duration. */
  deadline: number;
  /** Between two looks. */
  retry: number;
}

/** The usual ones of client-go's leader election. */
export const defaultTimes: LeaseTimes = { duration: 15_000, deadline: 10_000, retry: 2000 };

export interface ElectionOptions {
  namespace: string;
  /** Of the Lease. */
  name: string;
  /** Another one for each process, restarts included. */
  identity: string;
  log: Log;
  times?: LeaseTimes;
  /** Between 0 and 1: contenders should not come at the same time. */
  random?: () => number;
}

/**
 * Contends for a Lease, by the rules of client-go's leader election: the holder renews it, others take it when it was
 * not changed for as long as it says, and every write carries the version that was seen. Time is measured by a clock
 * that neither jumps nor goes back.
 */
export class Election {
  readonly #client: ApiClient;
  readonly #options: ElectionOptions;
  readonly #times: LeaseTimes;
  readonly #changed = new Set<() => void>();
  #sight: Observation | undefined;
  /** When the request was sent that last made or kept it ours. */
  #renewed = Number.NEGATIVE_INFINITY;
  #reported = false;
  #fault: string | undefined;

  constructor(client: ApiClient, options: ElectionOptions) {
    this.#client = client;
    this.#options = options;
    this.#times = options.times ?? defaultTimes;
  }

  /** Whether this process holds the Lease now. It says no by itself when a renewal is overdue. */
  get leads(): boolean {
    return performance.now() - this.#renewed < this.#times.deadline;
  }

  /** Calls back when this process begins to lead, or has been found not to any more. */
  subscribe(changed: () => void): () => void {
    this.#changed.add(changed);
    return () => this.#changed.delete(changed);
  }

  /** Contends until the signal is aborted, and then lets go of the Lease. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { retry } = this.#times;
    const random = this.#options.random ?? Math.random;
    while (!signal.aborted) {
      await this.#step(signal);
      this.#tell();
      const wait = this.leads ? retry : retry * (1 + random() / 5);
      await sleep(wait, undefined, { signal }).catch(() => {});
    }
    await this.#release();
    this.#tell();
  }

  get #path(): string {
    return apiPath`/apis/coordination.k8s.io/v1/namespaces/${this.#options.namespace}/leases`;
  }

  async #step(signal: AbortSignal): Promise<void> {
    const timeout = this.#times.deadline / 2;
    try {
      const lease = await this.#get(timeout, signal);
      const now = performance.now();
      this.#sight = observe(this.#sight, lease, now);
      const move = nextMove(this.#sight, this.#options.identity, now);
      if (move === 'wait') this.#renewed = Number.NEGATIVE_INFINITY;
      else await this.#write(lease, move, now, timeout, signal);
      this.#fault = undefined;
    } catch (error) {
      // somebody else was faster, which the next look shows
      if (signal.aborted || (error instanceof ClusterError && error.status === 409)) return;
      const reported = messageOf(error);
      if (reported !== this.#fault) {
        this.#options.log.warn(
          { lease: this.#options.name, err: error },
          `no leader can be found: ${reported}`,
        );
      }
      this.#fault = reported;
    }
  }

  async #get(timeout: number, signal: AbortSignal): Promise<Lease | undefined> {
    try {
      const path = pathBelow(this.#path, this.#options.name);
      return await this.#client.request<Lease>('GET', path, { timeout, signal });
    } catch (error) {
      if (error instanceof ClusterError && error.status === 404) return undefined;
      throw error;
    }
  }

  async #write(
    lease: Lease | undefined,
    move: Exclude<Move, 'wait'>,
    now: number,
    timeout: number,
    signal: AbortSignal,
  ): Promise<void> {
    const { identity, name, namespace } = this.#options;
    const spec = heldBy(lease, move, { identity, duration: this.#times.duration, time: new Date() });
    const written = await (lease === undefined
      ? this.#client.request<Lease>('POST', this.#path, {
          body: {
            apiVersion: 'coordination.k8s.io/v1',
            kind: 'Lease',
            metadata: { name, namespace },
            spec,
          },
          timeout,
          signal,
        })
      : this.#client.request<Lease>('PUT', pathBelow(this.#path, name), {
          body: { ...lease, spec },
          timeout,
          signal,
        }));
    this.#sight = observe(this.#sight, written, now);
    // from before it was sent: nobody else can have counted from earlier
    this.#renewed = now;
  }

  async #release(): Promise<void> {
    const lease = this.#sight?.lease;
    const holds = this.leads && lease?.spec?.holderIdentity === this.#options.identity;
    this.#renewed = Number.NEGATIVE_INFINITY;
    if (!holds) return;
    try {
      const body = { ...lease, spec: released(lease, new Date()) };
      await this.#client.request('PUT', pathBelow(this.#path, this.#options.name), { body, timeout: 2000 });
    } catch (error) {
      this.#options.log.warn(
        { lease: this.#options.name, err: error },
        `the Lease was not released, and is free after ${this.#times.duration / 1000} s: ${messageOf(error)}`,
      );
    }
  }

  #tell(): void {
    const { leads } = this;
    if (leads === this.#reported) return;
    this.#reported = leads;
    const { name, identity, log } = this.#options;
    log.info({ lease: name, identity }, leads ? 'this replica leads' : 'this replica does not lead any more');
    for (const changed of this.#changed) changed();
  }
}
