import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../kubernetes/client.ts';
import type { Leadership } from '../kubernetes/lease/leadership.ts';
import type { Log } from '../lib/deps.ts';
import { CniGateError, messageOf } from '../lib/errors.ts';
import { Notifier } from '../lib/notifier.ts';
import { TokenBucket } from '../lib/token-bucket.ts';
import type { EventMetrics } from './metrics.ts';
import type { Notice } from './notice.ts';
import { writeNotice } from './write-notice.ts';

/** Events a second, at once after a pause, and in parallel: fewer than nominations, which matter more. */
const [perSecond, burst, inParallel] = [10, 50, 5];
/** The largest number of waiting notices. */
const max = 200;
/** A failure of the same kind is logged again after this time, in milliseconds. */
const again = 600_000;

interface QueuedNotice {
  notice: Notice;
  failed: (() => void) | undefined;
}

/** What the queue of events works with. */
export interface NoticesOptions {
  /** Undefined where there can be no leader: no event is written then. */
  leader: Leadership | undefined;
  metrics: EventMetrics;
  log: Log;
  /** The name of this replica's pod. */
  instance: string;
}

/**
 * A queue of events. Nothing waits for them, and one that cannot be written stops nothing. Only the leader
 * writes, as other replicas would repeat them.
 */
export class Notices {
  readonly #client: ApiClient;
  readonly #options: NoticesOptions;
  readonly #rate = new TokenBucket(perSecond, burst);
  readonly #notifier = new Notifier();
  #queue: QueuedNotice[] = [];
  #warned: { kind: string; at: number } | undefined;

  constructor(client: ApiClient, options: NoticesOptions) {
    this.#client = client;
    this.#options = options;
  }

  /** How many more notices fit in the queue. */
  get capacity(): number {
    return max - this.#queue.length;
  }

  /**
   * Queues a notice. If the queue is full, the notice is dropped.
   *
   * @param failed called where the notice is not written
   */
  add(notice: Notice, failed?: () => void): void {
    const queued = { notice, failed };
    if (this.capacity <= 0) this.#drop(queued);
    else this.#queue.push(queued);
    this.#notifier.notify();
  }

  /** Writes until the signal is aborted. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.#options.leader?.leads !== true) this.#dropAll();
      const count = Math.min(inParallel, this.#rate.left(performance.now()));
      const some = this.#queue.splice(0, count);
      this.#rate.take(some.length);
      await Promise.all(some.map((one) => this.#write(one, signal)));
      if (this.#queue.length === 0) await this.#notifier.wait(again, signal);
      else await sleep(1000 / perSecond, undefined, { signal }).catch(() => {});
    }
    this.#dropAll();
  }

  async #write({ notice, failed }: QueuedNotice, signal: AbortSignal): Promise<void> {
    const { metrics, instance } = this.#options;
    const result = await writeNotice(this.#client, notice, instance, signal);
    metrics.event(notice.reason, result.result);
    if (result.result !== 'failed') return;
    failed?.();
    if (!signal.aborted) this.#warn(notice, result.error);
  }

  #dropAll(): void {
    for (const one of this.#queue.splice(0)) this.#drop(one);
  }

  #drop({ notice, failed }: QueuedNotice): void {
    this.#options.metrics.event(notice.reason, 'dropped');
    failed?.();
  }

  /** Logs each kind of failure once in a while: it may concern many pods. */
  #warn({ regarding, reason }: Notice, error: unknown): void {
    const text = messageOf(error);
    const kind = error instanceof CniGateError ? error.code : text;
    const now = performance.now();
    if (this.#warned?.kind === kind && now - this.#warned.at < again) return;
    this.#warned = { kind, at: now };
    this.#options.log.warn(
      { err: error, [regarding.kind.toLowerCase()]: `${regarding.namespace}/${regarding.name}`, reason },
      `an event cannot be written: ${text}`,
    );
  }
}
