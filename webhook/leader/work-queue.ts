import { setImmediate as nextTurn } from 'node:timers/promises';
import { getOrMake } from '../lib/maps.ts';
import { Notifier } from '../lib/notifier.ts';
import type { TokenBucket } from '../lib/token-bucket.ts';

/** `undefined` ends the back-off of the key; `back-off` adds the key again after a pause, which doubles each time. */
export type Result = undefined | 'back-off';

/** Reconciles a key. If it throws, the key backs off. */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<Result>;

/** Times are in milliseconds. */
export interface WorkQueueOptions {
  /** How many keys are reconciled at the same time. */
  inFlight: number;
  baseDelay: number;
  maxDelay: number;
  /** Each key takes one token, and a reconciler may take more. */
  bucket?: TokenBucket;
  failed?: (error: unknown, key: string) => void;
}

/** The longest wait of the queue while keys wait (the bucket may be empty), and while no key waits. Milliseconds. */
const [refill, idle] = [20, 60_000];

/**
 * A work queue as in client-go, which keeps each key once and gives a key to one reconciler at a time. Two differences:
 * Namespaces, which are the parts of keys before the first `/`, take turns, so that a tenant's 10,000 keys do not delay
 * other tenants. A key that backs off is not reconciled before its pause ends. Callers limit the number of keys.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  /** Waiting keys in the order of arrival, by namespace; the namespaces are in the order of turns. */
  readonly #waiting = new Map<string, Set<string>>();
  readonly #pausing = new Map<string, NodeJS.Timeout>();
  readonly #running = new Map<string, Promise<void>>();
  /** Keys that were added while they were being reconciled. */
  readonly #again = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #changed = new Notifier();

  constructor(options: WorkQueueOptions) {
    this.#options = options;
  }

  /** Adds a key. If it is being reconciled, it is reconciled once more afterwards. */
  add(key: string): void {
    if (this.#pausing.has(key)) return;
    if (this.#running.has(key)) {
      this.#again.add(key);
      return;
    }
    const namespace = key.split('/', 1)[0] ?? '';
    getOrMake(this.#waiting, namespace, () => new Set<string>()).add(key);
    this.#changed.notify();
  }

  /** Runs until the signal is aborted and all reconcilers returned. Call it once. Never throws. */
  async run(reconcile: Reconcile, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const key = this.#next();
      if (key === undefined) {
        await this.#changed.wait(this.#waiting.size > 0 ? refill : idle, signal);
      } else {
        this.#running.set(key, this.#process(key, reconcile, signal));
        // other work of the process has its turn after each key
        await nextTurn();
      }
    }
    await Promise.all(this.#running.values());
    for (const timer of this.#pausing.values()) clearTimeout(timer);
  }

  #next(): string | undefined {
    const { inFlight, bucket } = this.#options;
    const [turn] = this.#waiting;
    if (turn === undefined || this.#running.size >= inFlight) return undefined;
    if (bucket !== undefined && bucket.left(performance.now()) < 1) return undefined;
    bucket?.take(1);
    const [namespace, keys] = turn;
    const [key = ''] = keys;
    keys.delete(key);
    this.#waiting.delete(namespace);
    if (keys.size > 0) this.#waiting.set(namespace, keys);
    return key;
  }

  async #process(key: string, reconcile: Reconcile, signal: AbortSignal): Promise<void> {
    let result: Result;
    try {
      result = await reconcile(key, signal);
    } catch (error) {
      result = 'back-off';
      if (!signal.aborted) this.#options.failed?.(error, key);
    }
    this.#running.delete(key);
    this.#finish(key, result);
    if (this.#again.delete(key)) this.add(key);
    this.#changed.notify();
  }

  #finish(key: string, result: Result): void {
    const failures = this.#failures.get(key) ?? 0;
    this.#failures.delete(key);
    if (result !== 'back-off') return;
    this.#failures.set(key, failures + 1);
    const { baseDelay, maxDelay } = this.#options;
    const look = (): void => {
      this.#pausing.delete(key);
      this.add(key);
    };
    this.#pausing.set(key, setTimeout(look, Math.min(baseDelay * 2 ** failures, maxDelay)));
  }
}
