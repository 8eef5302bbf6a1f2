import { Counter, Gauge, type Registry } from 'prom-client';
import type { Outcome } from './attempt.ts';
import type { Recreated } from './recreate.ts';
import { type LeftAloneReason, leftAloneReasons } from './types.ts';

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
  readonly #leftAlone: Gauge<'reason'>;
  readonly #stopped: Gauge;

  constructor(registry: Registry) {
    const registers = [registry];
    this.#state = new Gauge({
      name: 'cni_gate_repair_state',
      help: 'What this replica does about pods whose proof failed: 1 for its state, 0 for the others.',
      labelNames: ['state'],
      registers,
    });
    this.#recreations = new Counter({
      name: 'cni_gate_repair_recreations_total',
      help: 'Recreations of pods whose proof failed, by result.',
      labelNames: ['result'],
      registers,
    });
    this.#outcomes = new Counter({
      name: 'cni_gate_repair_outcomes_total',
      help: 'Recreated pods, by the verdict of the pod that replaced them.',
      labelNames: ['outcome'],
      registers,
    });
    this.#leftAlone = new Gauge({
      name: 'cni_gate_repair_left_alone',
      help: 'Pods whose proof failed and that are not recreated now, by reason.',
      labelNames: ['reason'],
      registers,
    });
    this.#stopped = new Gauge({
      name: 'cni_gate_repair_stopped',
      help: 'Scopes in which repair has stopped because most recreated pods failed again: namespaces, or the cluster.',
      registers,
    });
  }

  state(now: RepairState): void {
    for (const state of repairStates) this.#state.set({ state }, state === now ? 1 : 0);
  }

  /** `would`: not made, because `repair.mode` is audit; `outdated`: the pod changed since planning. */
  recreated(result: Recreated['result'] | 'would' | 'outdated'): void {
    this.#recreations.inc({ result });
  }

  ended(outcome: Outcome): void {
    this.#outcomes.inc({ outcome });
  }

  /** What is left alone now, and in how many scopes repair has stopped. */
  leftAlone(counts: ReadonlyMap<LeftAloneReason, number>, stopped: number): void {
    for (const reason of leftAloneReasons) this.#leftAlone.set({ reason }, counts.get(reason) ?? 0);
    this.#stopped.set(stopped);
  }
}
