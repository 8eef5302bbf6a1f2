import { setTimeout as sleep } from 'node:timers/promises';
import type { ApiClient } from '../kubernetes/client.ts';
import type { Log } from '../lib/deps.ts';
import { CniGateError, messageOf } from '../lib/errors.ts';
import { TokenBucket } from '../lib/token-bucket.ts';
import type { Leadership } from './eligibility.ts';
import type { SteerMetrics } from './metrics.ts';
import type { Notice } from './notice.ts';
import { Notifier } from './notifier.ts';
import { writeNotice } from './write-notice.ts';

/** So many events are written: a second, at once after a rest, and side by side. Nominations come first. */
const [perSecond, burst, sideBySide] = [10, 50, 5];
/** So many wait to be written. */
const max = 200;
/** A fault of the same kind is logged again after so many milliseconds. */
const again = 600_000;

interface QueuedNotice {
  notice: Notice;
  failed: (() => void) | undefined;
}

export interface NoticesOptions {
  /** Undefined where there can be no leader: nothing is told then. */
  leader: Leadership | undefined;
  metrics: SteerMetrics;
  log: Log;
  /** The name of this replica's pod. */
  instance: string;
}

/**
 * Events on pods that are held, written beside everything else: nothing waits for them, and one that cannot be written
 * stops nothing. By the leader alone, as others would repeat them.
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

  /** How many more can be taken now. */
  get capacity(): number {
    return max - this.#queue.length;
  }

  /**
   * Takes a notice, to be written soon; where too many wait, it is dropped.
   *
   * @param failed called where it came to nothing
   */
  tell(notice: Notice, failed?: () => void): void {
    const queued = { notice, failed };
    if (this.capacity <= 0) this.#drop(queued);
    else this.#queue.push(queued);
    this.#notifier.notify();
  }

  /** Writes until the signal is aborted. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.#options.leader?.leads !== true) this.#dropAll();
      const count = Math.min(sideBySide, this.#rate.left(performance.now()));
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
    metrics.reported(notice.reason, result.result);
    if (result.result !== 'failed') return;
    failed?.();
    if (!signal.aborted) this.#warn(notice, result.error);
  }

  #dropAll(): void {
    for (const one of this.#queue.splice(0)) this.#drop(one);
  }

  #drop({ notice, failed }: QueuedNotice): void {
    this.#options.metrics.reported(notice.reason, 'dropped');
    failed?.();
  }

  /** Each kind of fault once in a while: it may be met for each of many pods. */
  #warn({ pod, reason }: Notice, error: unknown): void {
    const text = messageOf(error);
    const kind = error instanceof CniGateError ? error.code : text;
    const now = performance.now();
    if (this.#warned?.kind === kind && now - this.#warned.at < again) return;
    this.#warned = { kind, at: now };
    this.#options.log.warn(
      { err: error, pod: `${pod.namespace}/${pod.name}`, reason },
      `an event on a pod that is held cannot be written: ${text}`,
    );
  }
}
