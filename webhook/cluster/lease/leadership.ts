import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../lib/deps.ts';
import { messageOf } from '../../lib/errors.ts';
import { kindOfError, logOnce } from '../../lib/log-once.ts';
import { apiPath, pathBelow } from '../api-path.ts';
import type { ApiClient, RequestOptions } from '../client.ts';
import { ClusterError } from '../errors.ts';
import { heldBy, type Lease, type LeaseSpec, mayHold, type Observation, observe, released } from './lease.ts';

export interface Leadership {
  readonly leads: boolean;
  /** Calls back when this process starts or stops leading. @returns a function that unsubscribes */
  subscribe(changed: () => void): () => void;
}

/** The times of client-go's leader election, in milliseconds. */
const defaultTimes = {
  /** Other processes may take a Lease that has not changed for this time. It has to be in whole seconds. */
  duration: 15_000,
  /** The holder stops leading after this time without a renewal. It has to be shorter than the duration. */
  deadline: 10_000,
  retry: 2000,
};

export interface LeaderElectorOptions {
  namespace: string;
  name: string;
  /** The name of this process in the Lease, which is unique for each process. */
  identity: string;
  log: Log;
  times?: typeof defaultTimes;
}

/**
 * Leader election with a Lease, as in client-go. The holder renews the Lease, and other processes take a Lease that has
 * not changed for its duration. Every write carries the version that was read. Time is that of a monotonic clock.
 */
export class LeaderElector implements Leadership {
  readonly #client: ApiClient;
  readonly #options: LeaderElectorOptions;
  readonly #times: typeof defaultTimes;
  readonly #list: string;
  readonly #changed = new Set<() => void>();
  #observation: Observation | undefined;
  /** When the last successful attempt to create, take or renew the Lease began. */
  #renewed = Number.NEGATIVE_INFINITY;
  #reported = false;
  readonly #failures: ReturnType<typeof logOnce>;

  constructor(client: ApiClient, options: LeaderElectorOptions) {
    this.#client = client;
    this.#options = options;
    this.#times = options.times ?? defaultTimes;
    this.#failures = logOnce(options.log);
    this.#list = apiPath`/apis/coordination.k8s.io/v1/namespaces/${options.namespace}/leases`;
  }

  get leads(): boolean {
    return performance.now() - this.#renewed < this.#times.deadline;
  }

  subscribe(changed: () => void): () => void {
    this.#changed.add(changed);
    return () => this.#changed.delete(changed);
  }

  /** Takes part in the election until the signal is aborted, then releases the Lease. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { retry } = this.#times;
    while (!signal.aborted) {
      await this.#step(signal);
      this.#tell();
      // random, so that replicas do not send their requests at the same time
      const wait = this.leads ? retry : retry * (1 + Math.random() / 5);
      await sleep(wait, undefined, { signal }).catch(() => {});
    }
    await this.#release();
    this.#tell();
  }

  async #step(signal: AbortSignal): Promise<void> {
    const { name, identity } = this.#options;
    const { deadline, duration } = this.#times;
    const options = { timeout: deadline / 2, signal };
    try {
      const lease = await this.#client.get<Lease>(pathBelow(this.#list, name), options);
      // the time before the Lease is written, so no other replica can start to measure earlier
      const now = performance.now();
      this.#observation = observe(this.#observation, lease, now);
      if (mayHold(this.#observation, identity, now)) {
        const written = await this.#write(
          lease,
          heldBy(lease, { identity, duration, time: new Date() }),
          options,
        );
        this.#observation = observe(this.#observation, written, now);
        this.#renewed = now;
      } else this.#renewed = Number.NEGATIVE_INFINITY;
      this.#failures.over();
    } catch (error) {
      // 409: another replica was faster, and the next request reads what that replica wrote
      if (signal.aborted || (error instanceof ClusterError && error.status === 409)) return;
      const text = `no leader can be found: ${messageOf(error)}`;
      this.#failures.warn(kindOfError(error), { lease: name, err: error }, text);
    }
  }

  #write(lease: Lease | undefined, spec: LeaseSpec, options: RequestOptions): Promise<Lease> {
    const { name, namespace } = this.#options;
    const [method, path] =
      lease === undefined ? (['POST', this.#list] as const) : (['PUT', pathBelow(this.#list, name)] as const);
    const { metadata } = lease ?? { metadata: { name, namespace } };
    const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
    return this.#client.request(method, path, { ...options, body });
  }

  async #release(): Promise<void> {
    const { name, identity, log } = this.#options;
    const lease = this.#observation?.lease;
    const holds = this.leads && lease?.spec?.holderIdentity === identity;
    this.#renewed = Number.NEGATIVE_INFINITY;
    if (!holds) return;
    try {
      await this.#write(lease, released(lease, new Date()), { timeout: 2000 });
    } catch (error) {
      log.warn(
        { lease: name, err: error },
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
