import { setTimeout as sleep } from 'node:timers/promises';
import type { EventRecorder } from '../cluster/events/recorder.ts';
import type { Leadership } from '../cluster/lease/leadership.ts';
import type { Policy } from '../core/profiles/policy.ts';
import type { Log } from '../lib/deps.ts';
import { messageOf } from '../lib/errors.ts';
import { kindOfError, logOnce } from '../lib/log-once.ts';
import { type Reconcile, WorkQueue, type WorkQueueOptions } from './work-queue.ts';

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
  /**
   * How often all keys are added, in milliseconds; by default 2,000. Nodes become ready, fill and empty without an event
   * of a pod.
   */
  resync?: number;
}

/** What is done with one kind of objects. */
export interface Work {
  /** Calls back with the keys of objects that changed. @returns ends the subscription */
  subscribe(add: (keys: Iterable<string>) => void): () => void;
  /** The keys of all objects. Called for each resync, whether this process leads or not. */
  keys(signal: AbortSignal): Promise<Iterable<string>>;
  reconcile: Reconcile;
}

/** What a {@link Controller} works with. */
export interface ControllerOptions extends Pick<LeaderDeps<unknown>, 'leader' | 'log' | 'resync'> {
  queue: Omit<WorkQueueOptions, 'failed'>;
  /** Begins anew whenever this process begins to lead, or no longer leads: what was learned before is forgotten. */
  begin(): Work;
  /** What a failure means, for the log: `refused pods cannot be steered`. */
  failure: string;
}

/** Runs a {@link WorkQueue} while this process leads: events and a resync add keys, the reconciler looks at them. */
export class Controller {
  readonly #options: ControllerOptions;
  readonly #failures: ReturnType<typeof logOnce>;

  constructor(options: ControllerOptions) {
    this.#options = options;
    this.#failures = logOnce(options.log);
  }

  /** Runs until the signal is aborted, and what was begun has ended. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const term = new AbortController();
      const unsubscribe = this.#options.leader?.subscribe(() => term.abort());
      await this.#serve(AbortSignal.any([signal, term.signal]));
      unsubscribe?.();
    }
  }

  /** Works until the lead changes hands. */
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
