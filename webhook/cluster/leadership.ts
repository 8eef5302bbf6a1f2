import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../lib/deps.ts';
import { messageOf } from '../lib/errors.ts';
import { kindOfError, logOnce } from '../lib/log-once.ts';
import { microTime } from '../lib/time-text.ts';
import { apiPath, pathBelow } from './api-path.ts';
import type { ApiClient, RequestOptions } from './client.ts';
import { ClusterError } from './errors.ts';

export interface Leadership {
  readonly leads: boolean;
  /** Calls `changed` when this process starts or stops leading. @returns a function that unsubscribes */
  subscribe(changed: () => void): () => void;
}

/** The times of client-go's leader election, in milliseconds. */
const defaultTimes = {
  /** Other processes may take a Lease that has not changed for this time, which has to be in whole seconds. */
  duration: 15_000,
  /** The holder stops leading if it could not renew the Lease for this time, which must be shorter than `duration`. */
  deadline: 10_000,
  retry: 2000,
};

export interface LeaderElectorOptions {
  namespace: string;
  name: string;
  /** The name of this process in the Lease, unique for each process. */
  identity: string;
  log: Log;
  times?: typeof defaultTimes;
}

/**
 * Leader election with a Lease, as in client-go. The holder renews the Lease, and any process may take a Lease that has
 * not changed for its duration. Writes contain the resourceVersion that was read. Times are from a monotonic clock.
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
      // reads the time before the write, so that this replica stops leading before another may take the Lease
      const now = performance.now();
      this.#observation = observe(this.#observation, lease, now);
      if (mayHold(this.#observation, identity, now)) {
        const leaseDurationSeconds = Math.ceil(duration / 1000);
        const written = await this.#write(lease, { holderIdentity: identity, leaseDurationSeconds }, options);
        this.#observation = observe(this.#observation, written, now);
        this.#renewed = now;
      } else this.#renewed = Number.NEGATIVE_INFINITY;
      this.#failures.over();
    } catch (error) {
      // 409: another replica was faster; the next step reads its Lease
      if (signal.aborted || (error instanceof ClusterError && error.status === 409)) return;
      const text = `no leader can be found: ${messageOf(error)}`;
      this.#failures.warn(kindOfError(error), { lease: name, err: error }, text);
    }
  }

  #write(lease: Lease | undefined, holder: LeaseSpec, options: RequestOptions): Promise<Lease> {
    const { name, namespace } = this.#options;
    const [method, path] =
      lease === undefined ? (['POST', this.#list] as const) : (['PUT', pathBelow(this.#list, name)] as const);
    const { metadata } = lease ?? { metadata: { name, namespace } };
    const spec = { ...holder, renewTime: microTime(new Date()) };
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
      // as client-go does, so that the next holder need not wait
      await this.#write(lease, { holderIdentity: '', leaseDurationSeconds: 1 }, { timeout: 2000 });
    } catch (error) {
      log.warn(
        { lease: name, err: error },
        `the Lease was not released; another replica can take it after ${this.#times.duration / 1000} s: ${messageOf(error)}`,
      );
    }
  }

  #tell(): void {
    const { leads } = this;
    if (leads === this.#reported) return;
    this.#reported = leads;
    const { name, identity, log } = this.#options;
    log.info({ lease: name, identity }, leads ? 'this replica leads' : 'this replica no longer leads');
    for (const changed of this.#changed) changed();
  }
}

export interface Lease {
  metadata: {
    resourceVersion?: string;
    annotations?: Record<string, string> | null;
    [key: string]: unknown;
  };
  spec?: LeaseSpec | null;
}

export interface LeaseSpec {
  /** Empty after a release. */
  holderIdentity?: string | null;
  leaseDurationSeconds?: number | null;
  renewTime?: string | null;
}

export interface Observation {
  lease: Lease | undefined;
  /** When the Lease was first read in this state, by this process's monotonic clock. */
  since: number;
}

/**
 * Records since when a Lease has not changed. The times in the Lease are not used: they are from the holder's clock.
 * @param now milliseconds of a monotonic clock
 */
export function observe(before: Observation | undefined, lease: Lease | undefined, now: number): Observation {
  const same = before !== undefined && versionOf(before.lease) === versionOf(lease);
  return { lease, since: same ? before.since : now };
}

const versionOf = (lease: Lease | undefined): string | undefined => lease?.metadata.resourceVersion;

/** Whether this process may create the Lease, renew it, or take it over. */
export function mayHold({ lease, since }: Observation, identity: string, now: number): boolean {
  const { holderIdentity, leaseDurationSeconds } = lease?.spec ?? {};
  return !holderIdentity || holderIdentity === identity || now - since > (leaseDurationSeconds ?? 0) * 1000;
}
