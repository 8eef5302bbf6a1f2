import type { Registry } from 'prom-client';
import { counter, gauge } from '../lib/metrics.ts';

/** `standby`: this replica does not lead: another one does, or the namespace of the Lease is unknown. */
const steerStates = ['steering', 'standby', 'off', 'api-server-too-old'] as const;
export type SteerState = (typeof steerStates)[number];

/** `recreate` and `audit` are modes of repair. The other states are as in {@link steerStates}. */
const repairStates = ['recreate', 'audit', 'standby', 'off'] as const;
export type RepairState = (typeof repairStates)[number];

function stateGauge<S extends string>(
  registry: Registry,
  name: string,
  states: readonly S[],
): (now: S) => void {
  const metric = gauge(registry, name, 'What this replica does: 1 for its state, otherwise 0.', 'state');
  return (now) => {
    for (const state of states) metric.set({ state }, state === now ? 1 : 0);
  };
}

const nominationsHelp = 'Nominations of ready nodes for refused pods.';
const replacementsHelp = 'Verdicts of the pods that replaced recreated pods.';

export const steerMetrics = (registry: Registry) => ({
  nominations: counter(registry, 'cni_gate_nominations_total', nominationsHelp, 'result'),
  outcomes: counter(registry, 'cni_gate_nomination_outcomes_total', 'Finished nominations.', 'outcome'),
  state: stateGauge(registry, 'cni_gate_steer_state', steerStates),
});
export type SteerMetrics = ReturnType<typeof steerMetrics>;

export const repairMetrics = (registry: Registry) => ({
  /** The label is the result of the deletion; `would` counts pods that the mode `audit` only reports. */
  recreations: counter(registry, 'cni_gate_repair_recreations_total', 'Recreations of pods.', 'result'),
  outcomes: counter(registry, 'cni_gate_repair_outcomes_total', replacementsHelp, 'outcome'),
  skipped: gauge(
    registry,
    'cni_gate_repair_skipped',
    'Failed and lost pods that are not recreated now.',
    'reason',
  ),
  stopped: gauge(registry, 'cni_gate_repair_stopped', '1 if repair has stopped, otherwise 0.'),
  state: stateGauge(registry, 'cni_gate_repair_state', repairStates),
});
export type RepairMetrics = ReturnType<typeof repairMetrics>;
