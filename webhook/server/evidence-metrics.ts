import { Gauge } from 'prom-client';
import type { ClusterView } from '../admission/gate/cluster-view.ts';
import { lacksSandbox } from '../leader/report/long-waits.ts';
import type { Deps } from '../lib/deps.ts';
import { duplicateAddresses } from '../nodes/evidence/duplicates.ts';
import { type Verdict, verdicts } from '../nodes/evidence/facts.ts';

/**
 * Registers gauges of what pods' proofs found out. They are computed for each scrape, and have no value until all pods
 * are listed: a number that is too small is worse than none.
 */
export function measureEvidence(
  { registry, clock }: Pick<Deps, 'registry' | 'clock'>,
  { evidence }: Pick<ClusterView, 'evidence'>,
): void {
  const registers = [registry];
  new Gauge({
    name: 'cni_gate_proofs',
    help: 'Labelled pods on nodes that have not ended.',
    labelNames: ['verdict'],
    registers,
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
  /** A gauge without labels. */
  const gauge = (name: string, help: string, value: () => number): void => {
    new Gauge({
      name,
      help,
      registers,
      collect() {
        // a reset would report 0
        this.remove();
        if (evidence.synced) this.set(value());
      },
    });
  };
  gauge('cni_gate_pods_without_sandbox', 'Pods that have waited for a sandbox for a minute or more.', () => {
    let count = 0;
    for (const pod of evidence.pods()) if (lacksSandbox(pod, clock.now())) count += 1;
    return count;
  });
  gauge('cni_gate_duplicate_addresses', 'Addresses that two live pods of a network have.', () => {
    // the address of a pod that is being deleted may be free already
    const found = duplicateAddresses(evidence.pods());
    return found.filter(({ older, younger }) => !older.leaving && !younger.leaving).length;
  });
}
