import { setTimeout as sleep } from 'node:timers/promises';
import type { EventRecorder } from '../cluster/events/recorder.ts';
import type { Leadership } from '../cluster/leadership.ts';
import type { Policy } from '../core/profiles/policy.ts';
import type { Log } from '../lib/deps.ts';
import { messageOf } from '../lib/errors.ts';
import { kindOfError, logOnce } from '../lib/log-once.ts';
import { type Reconcile, WorkQueue, type WorkQueueOptions } from './work-queue.ts';

export interface LeaderDeps<View> {
  view: View;
  policy: () => Policy;
  /** If undefined, this process can never lead, and does nothing. */
  leader: Leadership | undefined;
  events: Pick<EventRecorder, 'capacity' | 'add'>;
  log: Log;
  /**
   * Milliseconds until all keys are added again (default 2,000), as no pod event reports that a node is ready or full.
   */
  resync?: number;
}

export interface Work {
  /** Calls back with keys of changed objects. @returns a function that unsubscribes */
  subscribe(add: (keys: Iterable<string>) => void): () => void;
  /** Returns the keys of all objects. It is also called while another process leads. */
  keys(signal: AbortSignal): Promise<Iterable<string>>;
  reconcile: Reconcile;
}

export interface ControllerOptions extends Pick<LeaderDeps<unknown>, 'leader' | 'log' | 'resync'> {
  queue: Omit<WorkQueueOptions, 'failed'>;
  /** Called when this process starts or stops leading. The returned work has no memory of earlier terms. */
  begin(): Work;
  /** The beginning of the log's text about a failure, such as `refused pods cannot be steered`. */
  failure: string;
}

/** Runs a {@link WorkQueue}. While this process leads, changes and a periodic resync add keys to the queue. */
export class Controller {
  readonly #options: ControllerOptions;
  readonly #failures: ReturnType<typeof logOnce>;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#failures = logOnce(options.log);
  }

  /** Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const term = new AbortController();
      const unsubscribe = this.#options.leader?.subscribe(() => term.abort());
      await this.#serve(AbortSignal.any([signal, term.signal]));
      unsubscribe?.();
    }
  }

  async #serve(signal: AbortSignal): Promise<void> {
    const { leader, queue: options, begin, resync = 2000 } = this.#options;
    const queue = new WorkQueue({ ...options, failed: (error, key) => this.#warn(error, key) });
    const work = begin();
    const add = (keys: Iterable<string>): void => {
      if (leader?.leads !== true) return;
      for (const key of keys) queue.add(key);
    };
    const unsubscribe = work.subscribe(add);
    const running = queue.run(
      async (key, ended) => (leader?.leads === true ? work.reconcile(key, ended) : undefined),
      signal,
    );
    while (!signal.aborted) {
      try {
        add(await work.keys(signal));
      } catch (error) {
        if (!signal.aborted) this.#warn(error);
      }
      await sleep(resync, undefined, { signal }).catch(() => {});
    }
    unsubscribe();
    await running;
  }

  #warn(error: unknown, key?: string): void {
    const text = `${this.#options.failure}: ${messageOf(error)}; cni-gate tries again`;
    this.#failures.warn(kindOfError(error), { err: error, key }, text);
  }
}
