import { Counter, Gauge, type Registry } from 'prom-client';
import type { Written } from '../written.ts';
import type { Outcome } from './nominations.ts';

/**
 * What this replica does about refused pods: `steering`; `standby`: another replica leads; `off` by the configuration;
 * `api-server-too-old`; `no-namespace`: it does not know its own namespace, where the Lease would be.
 */
export const steerStates = ['steering', 'standby', 'off', 'api-server-too-old', 'no-namespace'] as const;
/** One of {@link steerStates}. */
export type SteerState = (typeof steerStates)[number];

/** The metrics of steering: docs/reference/metrics.md. */
export class SteerMetrics {
  readonly #nominations: Counter<'result'>;
  readonly #outcomes: Counter<'outcome'>;
  readonly #state: Gauge<'state'>;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#nominations = new Counter({
      name: 'cni_gate_nominations_total',
      help: 'Nominations of ready nodes for refused pods.',
      labelNames: ['result'],
      registers,
    });
    this.#outcomes = new Counter({
      name: 'cni_gate_nomination_outcomes_total',
      help: 'Finished nominations.',
      labelNames: ['outcome'],
      registers,
    });
    this.#state = new Gauge({
      name: 'cni_gate_steer_state',
      help: 'What this replica does: 1 for its state, otherwise 0.',
      labelNames: ['state'],
      registers,
    });
  }

  nominated(result: Written['result']): void {
    this.#nominations.inc({ result });
  }

  ended(outcome: Outcome): void {
    this.#outcomes.inc({ outcome });
  }

  state(now: SteerState): void {
    for (const state of steerStates) this.#state.set({ state }, state === now ? 1 : 0);
  }
}
