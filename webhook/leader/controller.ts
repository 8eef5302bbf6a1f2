import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import type { EventRecorder } from '../cluster/events/recorder.ts';
import type { Leadership } from '../cluster/leadership.ts';
import type { Policy } from '../core/profiles/policy.ts';
import type { Log } from '../lib/deps.ts';
import { messageOf } from '../lib/errors.ts';
import { kindOfError, logOnce } from '../lib/log-once.ts';
import { getOrMake } from '../lib/maps.ts';
import { Notifier } from '../lib/notifier.ts';
import type { TokenBucket } from '../lib/token-bucket.ts';

export interface LeaderDeps<View> {
  view: View;
  policy: () => Policy;
  leader: Leadership;
  events: Pick<EventRecorder, 'capacity' | 'add'>;
  log: Log;
  /**
   * The interval, in milliseconds, at which all keys are queued again (default 2,000). This is necessary because a node
   * can become ready or full without a change of a key's objects.
   */
  resync?: number;
}

/** `undefined`: done, and the key's back-off is reset; `back-off`: retry after a pause that doubles each time. */
export type Result = undefined | 'back-off';

export interface Work {
  /** Calls `add` with the keys of changed objects. @returns a function that unsubscribes */
  subscribe(add: (keys: Iterable<string>) => void): () => void;
  /** Returns the keys of all objects. Also called on standby replicas. */
  keys(signal: AbortSignal): Promise<Iterable<string>>;
  /** Reconciles a key. If it throws, the key backs off. */
  reconcile(key: string, signal: AbortSignal): Promise<Result>;
}

/** Times are in milliseconds. */
export interface ControllerOptions extends Pick<LeaderDeps<unknown>, 'leader' | 'log' | 'resync'> {
  /** How many keys are reconciled at the same time. */
  inFlight: number;
  baseDelay: number;
  maxDelay: number;
  /** Limits the rate: the queue takes one token for each key, and `reconcile` may take more. */
  bucket?: TokenBucket;
  /** Called each time this process starts or stops leading. The returned work begins without earlier state. */
  begin(): Work;
  /** The beginning of log messages about failures, such as `refused pods cannot be steered`. */
  failure: string;
}

/** While this process leads, reconciles keys of changed objects, and periodically all keys. Never throws. */
export async function runController(options: ControllerOptions, signal: AbortSignal): Promise<void> {
  const failures = logOnce(options.log);
  const warn = (error: unknown, key?: string): void => {
    const text = `${options.failure}: ${messageOf(error)}; cni-gate tries again`;
    failures.warn(kindOfError(error), { err: error, key }, text);
  };
  while (!signal.aborted) {
    const term = new AbortController();
    const unsubscribe = options.leader.subscribe(() => term.abort());
    await serve(options, warn, AbortSignal.any([signal, term.signal]));
    unsubscribe();
  }
}

type Warn = (error: unknown, key?: string) => void;

async function serve(options: ControllerOptions, warn: Warn, signal: AbortSignal): Promise<void> {
  const { leader, resync = 2000 } = options;
  const work = options.begin();
  const queue = workQueue(
    options,
    async (key, ended) => (leader.leads ? work.reconcile(key, ended) : undefined),
    warn,
  );
  const add = (keys: Iterable<string>): void => {
    if (!leader.leads) return;
    for (const key of keys) queue.add(key);
  };
  const unsubscribe = work.subscribe(add);
  const running = queue.run(signal);
  while (!signal.aborted) {
    try {
      add(await work.keys(signal));
    } catch (error) {
      if (!signal.aborted) warn(error);
    }
    await sleep(resync, undefined, { signal }).catch(() => {});
  }
  unsubscribe();
  await running;
}

/** The queue's longest sleep in milliseconds: while keys wait (for a token or a free slot), and while no key waits. */
const [refill, idle] = [20, 60_000];

/**
 * As in client-go, this work queue contains a key at most once, and gives a key to one reconciler at a time. Unlike
 * client-go, it takes keys from each namespace in turn (the namespace is the part before the first `/`), so that one
 * tenant's keys do not delay others, and ignores additions of a key that backs off. Callers limit the number of keys.
 */
function workQueue(
  { inFlight, baseDelay, maxDelay, bucket }: ControllerOptions,
  reconcile: Work['reconcile'],
  warn: Warn,
) {
  /** The waiting keys of each namespace, in the order of arrival. The first namespace is served next. */
  const waiting = new Map<string, Set<string>>();
  const pausing = new Set<string>();
  const running = new Map<string, Promise<void>>();
  /** Keys that were added while they were being reconciled. */
  const again = new Set<string>();
  const failures = new Map<string, number>();
  const changed = new Notifier();

  /** Adds a key. If it is being reconciled, it is reconciled once more afterwards. */
  function add(key: string): void {
    if (pausing.has(key)) return;
    if (running.has(key)) {
      again.add(key);
      return;
    }
    const namespace = key.split('/', 1)[0] ?? '';
    getOrMake(waiting, namespace, () => new Set<string>()).add(key);
    changed.notify();
  }

  function next(): string | undefined {
    const [turn] = waiting;
    if (turn === undefined || running.size >= inFlight) return undefined;
    if (bucket !== undefined && bucket.left(performance.now()) < 1) return undefined;
    bucket?.take(1);
    const [namespace, keys] = turn;
    const [key = ''] = keys;
    keys.delete(key);
    waiting.delete(namespace);
    if (keys.size > 0) waiting.set(namespace, keys);
    return key;
  }

  async function process(key: string, signal: AbortSignal): Promise<void> {
    const result = await reconcile(key, signal).catch((error: unknown): Result => {
      if (!signal.aborted) warn(error, key);
      return 'back-off';
    });
    running.delete(key);
    const failed = failures.get(key) ?? 0;
    failures.delete(key);
    if (result === 'back-off') {
      const look = (): void => {
        pausing.delete(key);
        add(key);
      };
      failures.set(key, failed + 1);
      pausing.add(key);
      setTimeout(look, Math.min(baseDelay * 2 ** failed, maxDelay)).unref();
    }
    if (again.delete(key)) add(key);
    changed.notify();
  }

  /** Runs until the signal is aborted and all reconcilers returned. Never throws. */
  async function run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const key = next();
      if (key === undefined) await changed.wait(waiting.size > 0 ? refill : idle, signal);
      else {
        running.set(key, process(key, signal));
        // let the event loop answer admission calls between two keys
        await nextTurn();
      }
    }
    await Promise.all(running.values());
  }

  return { add, run };
}
