import { Counter, Gauge, type Registry } from 'prom-client';

/**
 * What this replica does about refused pods: `steering`; `standby`: another replica leads; `off` by the configuration;
 * `api-server-too-old`; `no-namespace`: it does not know its own namespace, where the Lease would be.
 */
export const steerStates = ['steering', 'standby', 'off', 'api-server-too-old', 'no-namespace'] as const;
/** One of {@link steerStates}. */
export type SteerState = (typeof steerStates)[number];

/**
 * What this replica does about failed pods: `recreate` or `audit` by `repair.mode`; `standby`: another replica leads;
 * `off` by the configuration; `no-namespace`: it does not know its own namespace, where the Lease would be.
 */
export const repairStates = ['recreate', 'audit', 'standby', 'off', 'no-namespace'] as const;
/** One of {@link repairStates}. */
export type RepairState = (typeof repairStates)[number];

const counter = <L extends string>(registry: Registry, name: string, help: string, label: L): Counter<L> =>
  new Counter({ name, help, labelNames: [label], registers: [registry] });

const gauge = <L extends string>(registry: Registry, name: string, help: string, ...labels: L[]): Gauge<L> =>
  new Gauge({ name, help, labelNames: labels, registers: [registry] });

const stateHelp = 'What this replica does: 1 for its state, otherwise 0.';

/** The metrics of steering: docs/reference/metrics.md. */
export class SteerMetrics {
  readonly nominations: Counter<'result'>;
  readonly outcomes: Counter<'outcome'>;
  readonly #state: Gauge<'state'>;

  constructor(registry: Registry) {
    const help = 'Nominations of ready nodes for refused pods.';
    this.nominations = counter(registry, 'cni_gate_nominations_total', help, 'result');
    this.outcomes = counter(
      registry,
      'cni_gate_nomination_outcomes_total',
      'Finished nominations.',
      'outcome',
    );
    this.#state = gauge(registry, 'cni_gate_steer_state', stateHelp, 'state');
  }

  state(now: SteerState): void {
    for (const state of steerStates) this.#state.set({ state }, state === now ? 1 : 0);
  }
}

/** The metrics of repair: docs/reference/metrics.md. */
export class RepairMetrics {
  /** By what became of the request, or `would` with `repair.mode: audit`. */
  readonly recreations: Counter<'result'>;
  readonly outcomes: Counter<'outcome'>;
  readonly skipped: Gauge<'reason'>;
  readonly stopped: Gauge;
  readonly #state: Gauge<'state'>;

  constructor(registry: Registry) {
    this.#state = gauge(registry, 'cni_gate_repair_state', stateHelp, 'state');
    this.recreations = counter(
      registry,
      'cni_gate_repair_recreations_total',
      'Recreations of pods.',
      'result',
    );
    const ofOutcomes = 'Verdicts of the pods that replaced them.';
    this.outcomes = counter(registry, 'cni_gate_repair_outcomes_total', ofOutcomes, 'outcome');
    const ofSkipped = 'Failed pods that are not recreated now.';
    this.skipped = gauge(registry, 'cni_gate_repair_left_alone', ofSkipped, 'reason');
    this.stopped = gauge(registry, 'cni_gate_repair_stopped', '1 if repair has stopped, otherwise 0.');
  }

  state(now: RepairState): void {
    for (const state of repairStates) this.#state.set({ state }, state === now ? 1 : 0);
  }
}
