import { Counter, type Registry } from 'prom-client';
import type { Event } from './event.ts';

/**
 * What became of an event. `exists`: this replica or another has written it before; `dropped`: too many events waited,
 * or this replica no longer leads.
 */
export type EventResult = 'written' | 'exists' | 'failed' | 'dropped';

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

  event(reason: Event['reason'], result: EventResult): void {
    this.#events.inc({ reason, result });
  }
}
