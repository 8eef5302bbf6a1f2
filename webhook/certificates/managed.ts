import { setTimeout as sleep } from 'node:timers/promises';
import type { Making } from '../../certs/managed/carry-out.ts';
import { inForce } from '../../certs/managed/parts.ts';
import type { ReadState } from '../../certs/managed/reading.ts';
import type { ApiClient } from '../kubernetes/client.ts';
import type { Log } from '../lib/deps.ts';
import { CniGateError } from '../lib/errors.ts';
import { Alarm } from './alarm.ts';
import { Keeper } from './keeper.ts';
import type { CertificateMetrics } from './metrics.ts';
import { type ManagedObjects, SharedOverApi } from './over-api.ts';
import { Report } from './report.ts';

/** What managed certificates need to be told. */
export interface ManagedOptions extends ManagedObjects, Omit<Making, 'now'> {
  client: ApiClient;
  /** Milliseconds that an authority is trusted everywhere before anything it signed is served. */
  overlap: number;
  /** Our own clock, the same that the client has. */
  clock?: () => Date;
  /** Milliseconds between two looks where nothing tells of a change. */
  interval?: number;
}

/**
 * Below the minute within which every replica has to serve a new certificate, and, a fifth longer as it may be by
 * chance, below the patience of a replica that leaves it to this one to say what it knows.
 */
const defaultInterval = 15_000;

/** The first wait after a failure; it doubles up to the interval. */
const firstWait = 500;

/** All replicas hear of a change at once: each looks a little later, at random, so that one is first. */
const longestDelay = 200;

/** So many looks in a row are made at once; then others have what they want for a while. */
const mostInARow = 20;

/**
 * Keeps the certificates of a cluster, and tells of each state that is in force, the first one included. It looks
 * when a watch tells of a change, and by the clock: a watch may be silent, and a machine may have slept.
 */
export class ManagedCertificates {
  readonly #keeper: Keeper;
  readonly #report: Report;
  readonly #shared: SharedOverApi;
  readonly #alarm: Alarm;
  readonly #interval: number;
  readonly #stop = new AbortController();
  #state: ReadState | undefined;

  constructor(
    options: ManagedOptions,
    { log, metrics, onState }: { log: Log; metrics: CertificateMetrics; onState: (state: ReadState) => void },
  ) {
    const { client, clock = () => new Date(), interval = defaultInterval } = options;
    this.#interval = interval;
    this.#shared = new SharedOverApi(client, options, clock, this.#stop.signal);
    this.#report = new Report(
      log,
      metrics,
      () => client.ahead,
      (state) => {
        this.#state = state;
        onState(state);
      },
    );
    this.#keeper = new Keeper({
      ...options,
      shared: this.#shared,
      events: this.#report,
      steady: () => performance.now(),
    });
    this.#alarm = new Alarm(client, options);
  }

  /** Why no calls should come here, or undefined when they may. */
  unready(): string | undefined {
    if (!this.#state)
      return `no serving certificate yet: ${this.#report.trouble ?? 'the Secret was not read yet'}`;
    if (inForce(this.#state.leaf.facts, this.#shared.now())) return undefined;
    return `the serving certificate is not in force: ${this.#report.trouble ?? 'a new one is being made'}`;
  }

  /** Ends {@link run}, and whatever request is under way. */
  stop(): void {
    this.#stop.abort();
  }

  /** Runs until it is stopped. Never ends by an error of the cluster. */
  async run(): Promise<void> {
    const { signal } = this.#stop;
    const watching = this.#alarm.run(signal);
    let failures = 0;
    let row = 0;
    while (!signal.aborted) {
      const changed = this.#alarm.arm();
      const result = await this.#look();
      failures = result === 'failed' ? failures + 1 : 0;
      row = result === 'again' ? row + 1 : 0;
      const wait = Math.min(this.#interval, this.#pause(result, failures, row));
      // at random, so that replicas do not go on side by side
      const over = new AbortController();
      const rest = sleep(wait * (0.8 + 0.4 * Math.random()), undefined, {
        signal: AbortSignal.any([signal, over.signal]),
      }).catch(() => {});
      // after a failure the time is waited for, whatever happens meanwhile
      await (failures > 0
        ? rest
        : Promise.race([rest, changed.then(() => sleep(longestDelay * Math.random()))]));
      over.abort();
    }
    await watching;
  }

  /** Milliseconds until the next look; `failures` and `row` are looks in a row that failed, or had to do something. */
  #pause(result: 'again' | 'wait' | 'done' | 'failed', failures: number, row: number): number {
    switch (result) {
      case 'again':
        return row < mostInARow ? firstWait / 10 : Infinity;
      case 'wait':
        return firstWait * 4;
      case 'failed':
        return firstWait * 2 ** (failures - 1);
      case 'done':
        return Infinity;
    }
  }

  async #look(): Promise<'again' | 'wait' | 'done' | 'failed'> {
    try {
      return await this.#keeper.look();
    } catch (error) {
      if (this.#stop.signal.aborted) return 'done';
      // a defect is told like everything else: to go on with what is there is better than not to serve
      const known = error instanceof CniGateError;
      this.#report.failed('secret', known ? error : new CniGateError('CNI_GATE_INTERNAL', String(error)));
      return 'failed';
    }
  }
}
