import { Counter, type Registry } from 'prom-client';
import type { Event } from './event.ts';
import type { EventResult } from './write-event.ts';

/** The metric of events: docs/reference/metrics.md. */
export class EventMetrics {
  readonly #events: Counter<'reason' | 'result'>;

  constructor(registry: Registry) {
    this.#events = new Counter({
      name: 'cni_gate_events_total',
      help: 'Events on pods and their controllers.',
      labelNames: ['reason', 'result'],
      registers: [registry],
    });
  }

  /** `dropped`: too many events waited, or this replica no longer leads. */
  event(reason: Event['reason'], result: EventResult['result'] | 'dropped'): void {
    this.#events.inc({ reason, result });
  }
}
