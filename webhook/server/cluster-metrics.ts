import { Gauge, type Registry } from 'prom-client';
import type { ClusterView } from '../admission/gate/cluster-view.ts';
import type { Policy } from '../config/policy.ts';
import { lacksSandbox } from '../leader/report/waiting-pods.ts';
import type { Deps } from '../lib/deps.ts';
import { duplicateAddresses } from '../nodes/evidence/duplicates.ts';
import { type Verdict, verdicts } from '../nodes/evidence/facts.ts';
import { stateBy } from '../nodes/evidence/profile-proof.ts';
import { states } from '../nodes/readiness/state.ts';

/*
 * Gauges of what is known of the cluster. They are computed for each scrape; docs/reference/metrics.md says what that
 * costs. Until everything is listed they have no value: a number that is too small is worse than none.
 */

/** Registers a gauge without labels. @param value undefined until everything is listed */
function register(registry: Registry, name: string, help: string, value: () => number | undefined): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      // a reset would report 0
      this.remove();
      const now = value();
      if (now !== undefined) this.set(now);
    },
  });
}

/** Registers gauges of the nodes' states and of held pods. */
export function measureReadiness(
  { registry, clock }: Pick<Deps, 'registry' | 'clock'>,
  policy: () => Policy,
  view: Pick<ClusterView, 'readiness' | 'evidence' | 'pending' | 'unsynced'>,
): void {
  new Gauge({
    name: 'cni_gate_nodes',
    help: "Nodes by state of a profile's DaemonSet, if that exists.",
    labelNames: ['profile', 'daemonset', 'state'],
    registers: [registry],
    collect() {
      this.reset();
      if (view.unsynced() !== undefined || !view.evidence.synced) return;
      const inForce = policy();
      const now = clock.now();
      for (const one of inForce.profiles.values()) {
        const refine = stateBy(one, view, inForce, now);
        for (const daemonSet of one.daemonSets) {
          const counts = view.readiness.count(daemonSet, now, inForce.gate.startupGrace, refine);
          if (counts === undefined) continue;
          const labels = { profile: one.name, daemonset: `${daemonSet.namespace}/${daemonSet.name}` };
          for (const state of states) this.set({ ...labels, state }, counts[state]);
        }
      }
    },
  });
  const help = 'Pods that wait because the gate refused their node.';
  register(registry, 'cni_gate_held_pods', help, () => {
    if (view.unsynced() !== undefined) return undefined;
    let held = 0;
    for (const { refused } of view.pending()) if (refused !== undefined) held += 1;
    return held;
  });
}

/** Registers gauges of what pods' proofs found out. */
export function measureEvidence(
  { registry, clock }: Pick<Deps, 'registry' | 'clock'>,
  { evidence }: Pick<ClusterView, 'evidence'>,
): void {
  new Gauge({
    name: 'cni_gate_proofs',
    help: 'Labelled pods on nodes that have not ended.',
    labelNames: ['verdict'],
    registers: [registry],
    collect() {
      this.reset();
      if (!evidence.synced) return;
      const counts = new Map<Verdict, number>(verdicts.map((verdict) => [verdict, 0]));
      for (const { verdict, ended } of evidence.pods()) {
        if (!ended) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
      }
      for (const [verdict, count] of counts) this.set({ verdict }, count);
    },
  });
  const passed = 'Labelled pods that passed without an answer of their node, and have not ended.';
  register(registry, 'cni_gate_proofs_way_not_shown', passed, () => {
    if (!evidence.synced) return undefined;
    let count = 0;
    for (const { wayNotShown, ended } of evidence.pods()) if (wayNotShown && !ended) count += 1;
    return count;
  });
  const help = 'Pods that have waited for a sandbox for a minute or more.';
  register(registry, 'cni_gate_pods_without_sandbox', help, () => {
    if (!evidence.synced) return undefined;
    let count = 0;
    for (const pod of evidence.pods()) if (lacksSandbox(pod, clock.now())) count += 1;
    return count;
  });
  register(
    registry,
    'cni_gate_duplicate_addresses',
    'Addresses that two live pods of a network have.',
    () => {
      if (!evidence.synced) return undefined;
      return duplicateAddresses(evidence.pods()).length;
    },
  );
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
    const counts = readiness.count(ref, now, gate.startupGrace);
    if (counts === undefined) return [];
    const some = Object.entries(counts).filter(([, nodes]) => nodes > 0);
    return [[`${ref.namespace}/${ref.name}`, Object.fromEntries(some)] as const];
  });
  const nodes = [...readiness.nodes()].length;
  log.info({ nodes, daemonSets: Object.fromEntries(counted) }, 'nodes and DaemonSets are known');
}
