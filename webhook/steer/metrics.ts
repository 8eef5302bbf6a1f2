import { Counter, Gauge, type Registry } from 'prom-client';
import type { Outcome } from './history.ts';
import type { Written } from './nominate.ts';
import type { Notice } from './notice.ts';
import type { EventResult } from './write-notice.ts';

/**
 * What this replica does about pods that were refused: `steering`; `standby`: another one does; `off` by the
 * configuration; `api-server-too-old`; `no-namespace`: it does not know its own, where the Lease would be.
 */
export const steerStates = ['steering', 'standby', 'off', 'api-server-too-old', 'no-namespace'] as const;
export type SteerState = (typeof steerStates)[number];

export class SteerMetrics {
  readonly #nominations: Counter<'result'>;
  readonly #outcomes: Counter<'outcome'>;
  readonly #state: Gauge<'state'>;
  readonly #events: Counter<'reason' | 'result'>;
  readonly #cuts: Counter;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#nominations = new Counter({
      name: 'cni_gate_nominations_total',
      help: 'Nominations of ready nodes for pods that were refused, by what came of writing them.',
      labelNames: ['result'],
      registers,
    });
    this.#outcomes = new Counter({
      name: 'cni_gate_nomination_outcomes_total',
      help: 'Nominations that came to their end, by what the scheduler made of them.',
      labelNames: ['outcome'],
      registers,
    });
    this.#state = new Gauge({
      name: 'cni_gate_steer_state',
      help: 'What this replica does about pods that were refused: 1 for the state that it is in.',
      labelNames: ['state'],
      registers,
    });
    this.#events = new Counter({
      name: 'cni_gate_events_total',
      help: 'Events on pods that are held, by what came of writing them.',
      labelNames: ['reason', 'result'],
      registers,
    });
    this.#cuts = new Counter({
      name: 'cni_gate_steer_rounds_cut_total',
      help: 'Rounds of planning that left pods to the next round, because the work of one round was used up.',
      registers,
    });
  }

  /** A round of planning left pods to the next one. */
  cut(): void {
    this.#cuts.inc();
  }

  /** `dropped`: too many waited, or this replica leads no more. */
  reported(reason: Notice['reason'], result: EventResult['result'] | 'dropped'): void {
    this.#events.inc({ reason, result });
  }

  /** `outdated`: not written, because the pod or a node changed since it was planned. */
  nominated(result: Written['result'] | 'outdated'): void {
    this.#nominations.inc({ result });
  }

  ended(outcome: Outcome): void {
    this.#outcomes.inc({ outcome });
  }

  state(now: SteerState): void {
    for (const state of steerStates) this.#state.set({ state }, state === now ? 1 : 0);
  }
}
