import { setTimeout as sleep } from 'node:timers/promises';
import type { Counter, Registry } from 'prom-client';
import type { Log } from '../../lib/deps.ts';
import { messageOf } from '../../lib/errors.ts';
import { eventLimits } from '../../lib/limits.ts';
import { kindOfError, logOnce } from '../../lib/log-once.ts';
import { evictOldest } from '../../lib/maps.ts';
import { counter } from '../../lib/metrics.ts';
import { eventReporter, nameOf } from '../../lib/names.ts';
import { Notifier } from '../../lib/notifier.ts';
import { microTime } from '../../lib/time-text.ts';
import { TokenBucket } from '../../lib/token-bucket.ts';
import { apiPath } from '../api-path.ts';
import type { ApiClient } from '../client.ts';
import { ClusterError } from '../errors.ts';
import type { Leadership } from '../lease/leadership.ts';
import type { Event } from './event.ts';

const { perSecond, burst, inParallel } = eventLimits;
/** The largest number of waiting events. */
const max = 200;
/** Names of events that are remembered, so that they are not sent again. */
const mostNames = 20_000;
/** How often an event is tried, and the pause after each failure, in milliseconds. */
const [mostTries, pause] = [5, 60_000];
/** The longest pause of the writer, in milliseconds. */
const longestPause = 600_000;

/**
 * What became of an event. `exists`: this replica or another has written it before; `dropped`: too many events waited,
 * or this replica no longer leads.
 */
type EventResult = 'written' | 'exists' | 'failed' | 'dropped';

/** An event to write. */
interface QueuedEvent {
  event: Event;
  /** How often it could not be written. */
  failures: number;
}

/** The metric of events: docs/reference/metrics.md. */
export const eventMetrics = (registry: Registry): Counter<'reason' | 'result'> =>
  counter(registry, 'cni_gate_events_total', 'Events on pods and their controllers.', 'reason', 'result');

/** What the queue of events works with. */
export interface EventRecorderOptions {
  /** Undefined where there can be no leader: no event is written then. */
  leader: Leadership | undefined;
  metrics: ReturnType<typeof eventMetrics>;
  log: Log;
  /** The name of this replica's pod. */
  instance: string;
}

/**
 * A queue of events. Nothing waits for them, and one that cannot be written stops nothing. Only the leader
 * writes, as other replicas would repeat them.
 */
export class EventRecorder {
  readonly #client: ApiClient;
  readonly #options: EventRecorderOptions;
  readonly #rate = new TokenBucket(perSecond, burst);
  readonly #notifier = new Notifier();
  /** Names of events that are queued or written, the oldest first. */
  readonly #known = new Set<string>();
  #queue: QueuedEvent[] = [];
  /** Events that could not be written, and when they are queued again, on a monotonic clock. */
  readonly #failed: (QueuedEvent & { at: number })[] = [];
  readonly #failures: ReturnType<typeof logOnce>;

  constructor(client: ApiClient, options: EventRecorderOptions) {
    this.#client = client;
    this.#options = options;
    this.#failures = logOnce(options.log);
  }

  /** How many more events fit in the queue. */
  get capacity(): number {
    return max - this.#queue.length;
  }

  /**
   * Queues an event, unless it was queued or written before: the caller may add what is still true again and again. If
   * the queue is full, the event is dropped.
   *
   * @returns whether it was queued
   */
  add(event: Event): boolean {
    const name = eventName(event);
    if (this.#known.has(name)) return false;
    this.#known.add(name);
    evictOldest(this.#known, mostNames);
    return this.#push({ event, failures: 0 });
  }

  #push(queued: QueuedEvent): boolean {
    const fits = this.capacity > 0;
    if (fits) this.#queue.push(queued);
    else this.#drop(queued);
    this.#notifier.notify();
    return fits;
  }

  /** Writes until the signal is aborted. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (this.#options.leader?.leads !== true) this.#dropAll();
      const now = performance.now();
      const due = this.#failed.filter(({ at }) => at <= now);
      for (const queued of this.#failed.splice(0, due.length)) this.#push(queued);
      const count = Math.min(inParallel, this.#rate.left(now));
      const some = this.#queue.splice(0, count);
      this.#rate.take(some.length);
      await Promise.all(some.map((event) => this.#write(event, signal)));
      const next = Math.max(0, (this.#failed[0]?.at ?? now + longestPause) - now);
      if (this.#queue.length === 0) await this.#notifier.wait(next, signal);
      else await sleep(1000 / perSecond, undefined, { signal }).catch(() => {});
    }
    this.#dropAll();
  }

  async #write({ event, failures }: QueuedEvent, signal: AbortSignal): Promise<void> {
    const path = apiPath`/apis/events.k8s.io/v1/namespaces/${event.regarding.namespace}/events`;
    try {
      await this.#client.request('POST', path, {
        body: bodyOf(event, this.#options.instance),
        timeout: 5000,
        signal,
      });
      this.#count(event, 'written');
    } catch (error) {
      const exists = error instanceof ClusterError && error.status === 409;
      this.#count(event, exists ? 'exists' : 'failed');
      if (exists) return;
      if (failures + 1 >= mostTries || this.#failed.length >= max) this.#known.delete(eventName(event));
      else this.#failed.push({ event, failures: failures + 1, at: performance.now() + pause });
      if (signal.aborted) return;
      const { kind } = event.regarding;
      const facts = { err: error, [kind.toLowerCase()]: nameOf(event.regarding), reason: event.reason };
      this.#failures.warn(kindOfError(error), facts, `an event cannot be written: ${messageOf(error)}`);
    }
  }

  #count({ reason }: Event, result: EventResult): void {
    this.#options.metrics.inc({ reason, result });
  }

  #dropAll(): void {
    for (const queued of [...this.#queue.splice(0), ...this.#failed.splice(0)]) this.#drop(queued);
  }

  #drop({ event }: QueuedEvent): void {
    this.#known.delete(eventName(event));
    this.#count(event, 'dropped');
  }
}

/** Kubernetes: `ReportingInstanceLengthLimit`. */
const longestInstance = 128;

/** The name of an event: the same for the same event, whichever replica writes it. */
const eventName = ({ regarding, reason, occasion }: Event): string =>
  `cni-gate.${regarding.uid}.${reason.toLowerCase()}.${occasion}`;

/**
 * An event as the API server takes it. Its name is {@link eventName}, so a second one is refused.
 *
 * @param instance the name of this replica's pod
 */
function bodyOf(event: Event, instance: string): object {
  const { regarding, type, reason, action, node, note } = event;
  return {
    apiVersion: 'events.k8s.io/v1',
    kind: 'Event',
    metadata: { namespace: regarding.namespace, name: eventName(event) },
    eventTime: microTime(new Date()),
    type,
    reason,
    action,
    note,
    regarding,
    ...(node !== undefined && { related: { apiVersion: 'v1', kind: 'Node', name: node } }),
    reportingController: eventReporter,
    reportingInstance: instance.slice(0, longestInstance),
  };
}
