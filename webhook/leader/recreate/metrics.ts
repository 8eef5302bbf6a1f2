import { Counter, Gauge, type Registry } from 'prom-client';
import type { Written } from '../written.ts';
import type { Outcome } from './owner-record.ts';
import { type SkipReason, skipReasons } from './types.ts';

/**
 * What this replica does about failed pods: `recreate` or `audit` by `repair.mode`; `standby`: another replica leads;
 * `off` by the configuration; `no-namespace`: it does not know its own namespace, where the Lease would be.
 */
export const repairStates = ['recreate', 'audit', 'standby', 'off', 'no-namespace'] as const;
/** One of {@link repairStates}. */
export type RepairState = (typeof repairStates)[number];

/** The metrics of repair: docs/reference/metrics.md. */
export class RepairMetrics {
  readonly #state: Gauge<'state'>;
  readonly #recreations: Counter<'result'>;
  readonly #outcomes: Counter<'outcome'>;
  readonly #skipped: Gauge<'reason'>;
  readonly #stopped: Gauge;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#state = new Gauge({
      name: 'cni_gate_repair_state',
      help: 'What this replica does: 1 for its state, otherwise 0.',
      labelNames: ['state'],
      registers,
    });
    this.#recreations = new Counter({
      name: 'cni_gate_repair_recreations_total',
      help: 'Recreations of pods.',
      labelNames: ['result'],
      registers,
    });
    this.#outcomes = new Counter({
      name: 'cni_gate_repair_outcomes_total',
      help: 'Verdicts of the pods that replaced them.',
      labelNames: ['outcome'],
      registers,
    });
    this.#skipped = new Gauge({
      name: 'cni_gate_repair_left_alone',
      help: 'Failed pods that are not recreated now.',
      labelNames: ['reason'],
      registers,
    });
    this.#stopped = new Gauge({
      name: 'cni_gate_repair_stopped',
      help: '1 if repair has stopped, otherwise 0.',
      registers,
    });
  }

  state(now: RepairState): void {
    for (const state of repairStates) this.#state.set({ state }, state === now ? 1 : 0);
  }

  /** `would`: not made, because `repair.mode` is audit. */
  recreated(result: Written['result'] | 'would'): void {
    this.#recreations.inc({ result });
  }

  ended(outcome: Outcome, count = 1): void {
    this.#outcomes.inc({ outcome }, count);
  }

  /** What is left alone now, and whether all repair has stopped. */
  skipped(counts: ReadonlyMap<SkipReason, number>, stopped: boolean): void {
    for (const reason of skipReasons) this.#skipped.set({ reason }, counts.get(reason) ?? 0);
    this.#stopped.set(stopped ? 1 : 0);
  }
}
