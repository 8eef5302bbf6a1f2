import type { Registry } from 'prom-client';
import type { ClusterView } from '../core/cluster-view.ts';
import { type PodEvidence, type Verdict, verdictAt, verdicts } from '../core/facts/pod-evidence.ts';
import { noneYet, states } from '../core/networks/daemon-set-status.ts';
import { duplicateAddresses } from '../core/networks/duplicate-addresses.ts';
import { type NetworkFacts, statesOn } from '../core/networks/network-status.ts';
import type { Policy } from '../core/profiles/policy.ts';
import { placesOf } from '../core/profiles/types.ts';
import { measuredGauge, type Sample } from '../lib/metrics.ts';
import { nameOf } from '../lib/names.ts';

/**
 * Registers gauges of nodes, held pods and proofs, computed for each scrape (docs/reference/metrics.md). A gauge has no
 * value before all its objects are listed, because a number that is too small is worse than none.
 */
export function measureCluster(
  registry: Registry,
  policy: () => Policy,
  view: Pick<ClusterView, 'readiness' | 'evidence' | 'pending' | 'unsynced'>,
): void {
  const gauge = measuredGauge.bind(undefined, registry);
  const gaugeOfPods = (name: string, help: string, isCounted: (pod: PodEvidence) => boolean): void =>
    gauge(name, help, [], () =>
      view.evidence.synced ? [[{}, count(view.evidence.pods(), isCounted)]] : undefined,
    );

  const nodes = "Nodes by state of a profile's DaemonSet, if that exists.";
  gauge('cni_gate_nodes', nodes, ['profile', 'daemonset', 'state'], () =>
    view.unsynced() === undefined && view.evidence.synced
      ? nodeStates(view, policy(), Date.now())
      : undefined,
  );
  gauge('cni_gate_held_pods', 'Pods that wait because the gate refused their node.', [], () =>
    view.unsynced() === undefined
      ? [[{}, count(view.pending(), ({ refused }) => refused !== undefined)]]
      : undefined,
  );
  gauge('cni_gate_proofs', 'Pods of opted-in namespaces by the verdict of their proof.', ['verdict'], () => {
    if (!view.evidence.synced) return undefined;
    const counts = new Map<Verdict, number>(verdicts.map((verdict) => [verdict, 0]));
    for (const pod of view.evidence.pods()) {
      const verdict = verdictAt(pod, Date.now());
      if (!pod.ended) counts.set(verdict, (counts.get(verdict) ?? 0) + 1);
    }
    return [...counts].map(([verdict, pods]) => [{ verdict }, pods]);
  });
  gaugeOfPods(
    'cni_gate_proofs_way_not_shown',
    'Pods of opted-in namespaces whose proof passed without an answer from their node.',
    ({ wayNotShown = false, ended }) => wayNotShown && !ended,
  );
  gaugeOfPods(
    'cni_gate_pods_without_sandbox',
    'Pods that have waited for a sandbox for a minute or more.',
    ({ verdict, hasSandbox, ended, leaving, at, createdAt }) =>
      verdict === 'waiting' &&
      hasSandbox === false &&
      !ended &&
      !leaving &&
      // more than the 45 s for which Multus may wait for its configuration
      Date.now() - (at ?? createdAt) >= 60_000,
  );
  const duplicates = 'Addresses that two live pods of a network have.';
  gauge('cni_gate_duplicate_addresses', duplicates, [], () =>
    view.evidence.synced ? [[{}, duplicateAddresses(view.evidence.pods()).length]] : undefined,
  );
}

/** Counts the nodes in each state, for each existing DaemonSet of the profiles. */
function* nodeStates(
  { readiness, evidence }: Pick<ClusterView, 'readiness' | 'evidence'>,
  policy: Policy,
  now: number,
): Generator<Sample> {
  const facts: NetworkFacts = { policy, readiness, evidence };
  for (const profile of policy.profiles.values()) {
    const existing = profile.daemonSets.flatMap(placesOf).filter((place) => readiness.knows(place));
    const counts = new Map(existing.map((daemonSet) => [nameOf(daemonSet), noneYet()]));
    for (const { name } of counts.size === 0 ? [] : readiness.nodes()) {
      for (const { daemonSet, state } of statesOn(profile, name, facts, now)) {
        const count = counts.get(nameOf(daemonSet));
        if (count) count[state] += 1;
      }
    }
    for (const [daemonset, count] of counts) {
      const labels = { profile: profile.name, daemonset };
      for (const state of states) yield [{ ...labels, state }, count[state]];
    }
  }
}

function count<T>(items: Iterable<T>, isCounted: (item: T) => boolean): number {
  let counted = 0;
  for (const item of items) if (isCounted(item)) counted++;
  return counted;
}
