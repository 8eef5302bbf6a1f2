import { setTimeout as sleep } from 'node:timers/promises';
import { ClusterError } from '../cluster/errors.ts';
import type { EventRecorder } from '../cluster/events/recorder.ts';
import type { Leadership } from '../cluster/lease/leadership.ts';
import type { Policy } from '../config/policy.ts';
import type { Log } from '../lib/deps.ts';
import { CniGateError, messageOf } from '../lib/errors.ts';
import { type Reconcile, type Result, WorkQueue, type WorkQueueOptions } from './work-queue.ts';

/** What all work of the leader goes by. */
export interface LeaderDeps<View> {
  /** What is known of the cluster. */
  view: View;
  /** The policy in force. */
  policy: () => Policy;
  /** Undefined where there can be no leader: nothing is done then. */
  leader: Leadership | undefined;
  events: Pick<EventRecorder, 'capacity' | 'add'>;
  log: Log;
}

/** What a {@link Controller} works with. */
export interface ControllerOptions extends Pick<LeaderDeps<unknown>, 'leader' | 'log'> {
  queue: Omit<WorkQueueOptions, 'failed'>;
  /** Calls back with the keys of objects that changed. @returns ends the subscription */
  subscribe(changed: (keys: Iterable<string>) => void): () => void;
  /** The keys of all objects. Called for each resync, whether this process leads or not. */
  keys(signal: AbortSignal): Promise<Iterable<string>>;
  reconcile: Reconcile;
  /** Forgets what was learned: the lead changed hands. */
  forget(): void;
  /** What a failure means, for the log: `refused pods cannot be steered`. */
  failure: string;
}

/** How often all keys are added, in milliseconds. Nodes become ready, fill and empty without an event of a pod. */
const resync = 2000;
/** How long no key is looked at after the API server failed, in milliseconds. An outage is not the key's fault. */
const outagePause = 5000;
/** A failure of the same kind is logged again after this time, in milliseconds. */
const warnAgain = 600_000;

/** Runs a {@link WorkQueue} while this process leads: events and a resync add keys, the reconciler looks at them. */
export class Controller {
  readonly #options: ControllerOptions;
  readonly #queue: WorkQueue;
  /** The end of the pause after an outage, on a monotonic clock. */
  #outageEnds = 0;
  #warned: { kind: string; at: number } | undefined;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#queue = new WorkQueue({ ...options.queue, failed: (error) => this.#warn(error) });
  }

  /** Runs until the signal is aborted, and what was begun has ended. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    const { leader, subscribe, forget } = this.#options;
    const unsubscribe = [
      subscribe((keys) => this.#add(keys)),
      leader?.subscribe(() => {
        this.#queue.clear();
        forget();
        void this.#resync(signal);
      }),
    ];
    const running = this.#queue.run((key, ended) => this.#reconcile(key, ended), signal);
    while (!signal.aborted) {
      await this.#resync(signal);
      await sleep(resync, undefined, { signal }).catch(() => {});
    }
    for (const end of unsubscribe) end?.();
    await running;
  }

  #add(keys: Iterable<string>): void {
    if (this.#options.leader?.leads !== true || performance.now() < this.#outageEnds) return;
    for (const key of keys) this.#queue.add(key);
  }

  async #resync(signal: AbortSignal): Promise<void> {
    try {
      this.#add(await this.#options.keys(signal));
    } catch (error) {
      if (!signal.aborted) this.#warn(error);
    }
  }

  async #reconcile(key: string, signal: AbortSignal): Promise<Result> {
    if (this.#options.leader?.leads !== true) return undefined;
    const after = this.#outageEnds - performance.now();
    if (after > 0) return { after };
    try {
      return await this.#options.reconcile(key, signal);
    } catch (error) {
      if (!isOutage(error)) throw error;
      if (!signal.aborted) this.#warn(error);
      this.#outageEnds = performance.now() + outagePause;
      return { after: outagePause };
    }
  }

  /** Logs each kind of failure once in a while: it may concern many keys. */
  #warn(error: unknown): void {
    const text = messageOf(error);
    const kind = error instanceof CniGateError ? error.code : text;
    const now = performance.now();
    if (this.#warned?.kind === kind && now - this.#warned.at < warnAgain) return;
    this.#warned = { kind, at: now };
    const { log, failure } = this.#options;
    log.warn({ err: error }, `${failure}: ${text}; cni-gate tries again`);
  }
}

/** Whether the API server gave no answer, or said that it cannot answer now. */
const isOutage = (error: unknown): boolean =>
  error instanceof ClusterError &&
  (error.status === undefined || error.status === 429 || error.status >= 500);
