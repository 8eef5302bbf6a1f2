import { Gauge, type Registry } from 'prom-client';
import type { Policy } from '../config/policy.ts';
import { countStates } from '../readiness/count.ts';
import { states } from '../readiness/state.ts';
import type { ClusterView } from '../view/cluster-view.ts';

/**
 * Measures the readiness of nodes and the pods that are held, each time the metrics are asked for; docs/reference/metrics.md
 * tells what that costs. While not everything was listed nothing is told: a number that is too small is worse than none.
 */
export function measureReadiness(
  registry: Registry,
  policy: () => Policy,
  { readiness, pending, unsynced }: Pick<ClusterView, 'readiness' | 'pending' | 'unsynced'>,
): void {
  const registers = [registry];
  new Gauge({
    name: 'cni_gate_nodes',
    help: 'Nodes by the state that a DaemonSet of a profile is in there. DaemonSets that do not exist have none.',
    labelNames: ['profile', 'daemonset', 'state'],
    registers,
    collect() {
      this.reset();
      if (unsynced() !== undefined) return;
      const { profiles, gate } = policy();
      const now = Date.now();
      for (const { name: profile, daemonSets } of profiles.values()) {
        for (const daemonSet of daemonSets) {
          const counts = countStates(readiness, daemonSet, now, gate.startupGrace);
          if (counts === undefined) continue;
          const labels = { profile, daemonset: `${daemonSet.namespace}/${daemonSet.name}` };
          for (const state of states) this.set({ ...labels, state }, counts[state]);
        }
      }
    },
  });
  new Gauge({
    name: 'cni_gate_held_pods',
    help: 'Pods that wait because the gate refused the node that the scheduler chose.',
    registers,
    collect() {
      // a reset would say 0
      this.remove();
      if (unsynced() !== undefined) return;
      let held = 0;
      for (const { refused } of pending()) if (refused !== undefined) held += 1;
      this.set(held);
    },
  });
}
