import { setTimeout as sleep } from 'node:timers/promises';
import type { Counter, Registry } from 'prom-client';
import type { Log } from '../../lib/deps.ts';
import { messageOf } from '../../lib/errors.ts';
import { kindOfError, logOnce } from '../../lib/log-once.ts';
import { evictOldest } from '../../lib/maps.ts';
import { counter } from '../../lib/metrics.ts';
import { eventReporter, nameOf } from '../../lib/names.ts';
import { microTime } from '../../lib/time-text.ts';
import { apiPath } from '../api-path.ts';
import type { ApiClient } from '../client.ts';
import { ClusterError } from '../errors.ts';
import type { Leadership } from '../leadership.ts';
import type { Event } from './event.ts';

/** Milliseconds between two writes. Nominations are more important, so they may be written faster. */
const interval = 100;
/** The maximum number of waiting events. */
const max = 200;
/** The maximum number of remembered names. An event whose name is remembered is not written again. */
const mostNames = 20_000;

/** `exists`: a replica already wrote the event; `dropped`: too many events waited, or this replica does not lead. */
type EventResult = 'written' | 'exists' | 'failed' | 'dropped';

export const eventMetrics = (registry: Registry): Counter<'reason' | 'result'> =>
  counter(registry, 'cni_gate_events_total', 'Events on pods and their controllers.', 'reason', 'result');

export interface EventRecorderOptions {
  leader: Leadership;
  metrics: ReturnType<typeof eventMetrics>;
  log: Log;
  /** The name of this replica's pod. */
  instance: string;
}

/** A queue of events that only the leader writes. An event whose write failed is written when it is added again. */
export class EventRecorder {
  readonly #client: ApiClient;
  readonly #options: EventRecorderOptions;
  /** Names of events that were queued or written, the oldest first. */
  readonly #known = new Set<string>();
  readonly #queue: Event[] = [];
  readonly #failures: ReturnType<typeof logOnce>;

  constructor(client: ApiClient, options: EventRecorderOptions) {
    this.#client = client;
    this.#options = options;
    this.#failures = logOnce(options.log);
  }

  get capacity(): number {
    return max - this.#queue.length;
  }

  /**
   * Queues an event, unless it was queued or written before: callers add an event repeatedly, as long as its note is
   * true. If the queue is full, the event is dropped.
   *
   * @returns whether it was queued
   */
  add(event: Event): boolean {
    const name = eventName(event);
    if (this.#known.has(name)) return false;
    this.#known.add(name);
    evictOldest(this.#known, mostNames);
    const fits = this.capacity > 0;
    if (fits) this.#queue.push(event);
    else this.#drop(event);
    return fits;
  }

  /** Writes until the signal is aborted. Never throws. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      if (!this.#options.leader.leads) this.#dropAll();
      const event = this.#queue.shift();
      if (event !== undefined) await this.#write(event, signal);
      await sleep(interval, undefined, { signal }).catch(() => {});
    }
    this.#dropAll();
  }

  async #write(event: Event, signal: AbortSignal): Promise<void> {
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
      this.#known.delete(eventName(event));
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
    for (const event of this.#queue.splice(0)) this.#drop(event);
  }

  #drop(event: Event): void {
    this.#known.delete(eventName(event));
    this.#count(event, 'dropped');
  }
}

/** The maximum length of `reportingInstance`: Kubernetes' `ReportingInstanceLengthLimit`. */
const longestInstance = 128;

const eventName = ({ regarding, reason, occasion }: Event): string =>
  `cni-gate.${regarding.uid}.${reason.toLowerCase()}.${occasion}`;

/** The name makes an event unique: the API server refuses a second event with the same name. */
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
