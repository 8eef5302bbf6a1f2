import { setImmediate as nextTurn } from 'node:timers/promises';
import { getOrMake } from '../lib/maps.ts';
import { Notifier } from '../lib/notifier.ts';
import type { TokenBucket } from '../lib/token-bucket.ts';

/**
 * What a reconciler returns: nothing if it is done with the key until it is added again, which ends the key's back-off;
 * `back-off`: look again after a pause that doubles.
 */
export type Result = undefined | 'back-off';

/** Looks at one key. If it throws, the key backs off. */
export type Reconcile = (key: string, signal: AbortSignal) => Promise<Result>;

/** The bounds of a {@link WorkQueue}. Times are milliseconds. */
export interface WorkQueueOptions {
  /** The largest number of keys that are looked at at the same time. */
  inFlight: number;
  /** The first pause of a key that backs off. Each further one doubles it. */
  baseDelay: number;
  maxDelay: number;
  /** Each key takes one token. A reconciler may take more for a key that costs more. */
  bucket?: TokenBucket;
  /** Called with what a reconciler threw. */
  failed?: (error: unknown, key: string) => void;
}

/** How often an empty bucket is looked at, and how long the queue sleeps if nothing happens, in milliseconds. */
const [refill, idle] = [20, 60_000];

/**
 * A work queue as client-go has: it keeps keys, each once, and hands out each to one reconciler at a time. There are two
 * differences. The part of a key before its first `/` is its namespace, and namespaces take turns: 10,000 keys of one
 * tenant do not delay those of another. And a key that backs off is not looked at before its pause ends, even if it is
 * added again. Callers bound the number of keys: they are those of objects in bounded stores.
 */
export class WorkQueue {
  readonly #options: WorkQueueOptions;
  /** The namespaces in the order of their turns, and in each the keys in the order of their arrival. */
  readonly #waiting = new Map<string, Set<string>>();
  /** The keys that back off. */
  readonly #pausing = new Map<string, NodeJS.Timeout>();
  readonly #running = new Map<string, Promise<void>>();
  /** Keys that were added while a reconciler looked at them. */
  readonly #again = new Set<string>();
  readonly #failures = new Map<string, number>();
  readonly #changed = new Notifier();

  constructor(options: WorkQueueOptions) {
    this.#options = options;
  }

  /** Adds a key to look at now; if it is being looked at, it is looked at once more afterwards. */
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

  /** Hands out keys until the signal is aborted, and waits for what still runs then. Call it once. Never throws. */
  async run(reconcile: Reconcile, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const key = this.#next();
      if (key === undefined) {
        await this.#changed.wait(this.#waiting.size > 0 ? refill : idle, signal);
      } else {
        this.#running.set(key, this.#process(key, reconcile, signal));
        // one key is little work: others have their turn after each
        await nextTurn();
      }
    }
    await Promise.all(this.#running.values());
    for (const timer of this.#pausing.values()) clearTimeout(timer);
  }

  /** The next key to look at, if there is one and the bounds allow it. The next time, it is another namespace's turn. */
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
