import { Gauge } from 'prom-client';
import type { ClusterView } from '../admission/gate/cluster-view.ts';
import type { Policy } from '../config/policy.ts';
import type { Deps } from '../lib/deps.ts';
import { stateBy } from '../nodes/evidence/profile-proof.ts';
import { countStates } from '../nodes/readiness/count.ts';
import { states } from '../nodes/readiness/state.ts';

/**
 * Registers gauges of the nodes' states and of held pods. They are computed for each scrape; docs/reference/metrics.md
 * says what that costs. Until everything is listed they have no value: a number that is too small is worse than none.
 */
export function measureReadiness(
  { registry, clock }: Pick<Deps, 'registry' | 'clock'>,
  policy: () => Policy,
  view: Pick<ClusterView, 'readiness' | 'evidence' | 'pending' | 'unsynced'>,
): void {
  const registers = [registry];
  new Gauge({
    name: 'cni_gate_nodes',
    help: "Nodes by state of a profile's DaemonSet, if that exists.",
    labelNames: ['profile', 'daemonset', 'state'],
    registers,
    collect() {
      this.reset();
      if (view.unsynced() !== undefined || !view.evidence.synced) return;
      const inForce = policy();
      const now = clock.now();
      for (const one of inForce.profiles.values()) {
        const { name: profile, daemonSets } = one;
        const refine = stateBy(one, view, inForce, now);
        for (const daemonSet of daemonSets) {
          const { startupGrace } = inForce.gate;
          const counts = countStates(view.readiness, daemonSet, now, startupGrace, refine);
          if (counts === undefined) continue;
          const labels = { profile, daemonset: `${daemonSet.namespace}/${daemonSet.name}` };
          for (const state of states) this.set({ ...labels, state }, counts[state]);
        }
      }
    },
  });
  new Gauge({
    name: 'cni_gate_held_pods',
    help: 'Pods that wait because the gate refused their node.',
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
