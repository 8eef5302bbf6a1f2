import { Gauge } from 'prom-client';
import type { Policy } from '../config/policy.ts';
import type { ClusterView } from '../gate/cluster-view.ts';
import type { Deps } from '../lib/deps.ts';
import { countStates } from '../readiness/count.ts';
import { states } from '../readiness/state.ts';

/**
 * Registers gauges of the nodes' states and of held pods. They are computed for each scrape; docs/reference/metrics.md
 * says what that costs. Until everything is listed they have no value: a number that is too small is worse than none.
 */
export function measureReadiness(
  { registry, clock }: Pick<Deps, 'registry' | 'clock'>,
  policy: () => Policy,
  view: Pick<ClusterView, 'readiness' | 'pending' | 'unsynced'>,
): void {
  const registers = [registry];
  new Gauge({
    name: 'cni_gate_nodes',
    help: 'Nodes by the state that a DaemonSet of a profile is in there. DaemonSets that do not exist have none.',
    labelNames: ['profile', 'daemonset', 'state'],
    registers,
    collect() {
      this.reset();
      if (view.unsynced() !== undefined) return;
      const { profiles, gate } = policy();
      const now = clock.now();
      for (const { name: profile, daemonSets } of profiles.values()) {
        for (const daemonSet of daemonSets) {
          const counts = countStates(view.readiness, daemonSet, now, gate.startupGrace);
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
      // a reset would report 0
      this.remove();
      if (view.unsynced() !== undefined) return;
      let held = 0;
      for (const { refused } of view.pending()) if (refused !== undefined) held += 1;
      this.set(held);
    },
  });
}

/**
 * Logs once, when everything is listed, how many nodes there are and how many are in which state for each existing
 * DaemonSet of the profiles. Later, `/metrics` and `cni-gate status` report it.
 */
export async function logReadiness(
  { log, clock }: Pick<Deps, 'log' | 'clock'>,
  policy: () => Policy,
  { readiness, whenSynced }: Pick<ClusterView, 'readiness' | 'whenSynced'>,
): Promise<void> {
  await whenSynced();
  const { profiles, gate } = policy();
  const now = clock.now();
  const refs = [...profiles.values()].flatMap(({ daemonSets }) => daemonSets);
  const counted = refs.flatMap((ref) => {
    const counts = countStates(readiness, ref, now, gate.startupGrace);
    if (counts === undefined) return [];
    const some = Object.entries(counts).filter(([, nodes]) => nodes > 0);
    return [[`${ref.namespace}/${ref.name}`, Object.fromEntries(some)] as const];
  });
  const nodes = [...readiness.nodes()].length;
  log.info({ nodes, daemonSets: Object.fromEntries(counted) }, 'nodes and DaemonSets are known');
}
