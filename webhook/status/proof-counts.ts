import type { PodFacts } from './facts.ts';
import { type ProofState, proofStates } from './proof.ts';

/** How many pods are in each state of their check. */
export type ProofCounts = Record<ProofState, number>;

/** No pod in any state. */
const none = (): ProofCounts =>
  Object.fromEntries(proofStates.map((state) => [state, 0])) as Record<ProofState, number>;

/** The pods of each namespace by what came of their checks, and of all. */
export function countProofs(pods: Iterable<Pick<PodFacts, 'namespace' | 'proof'>>): {
  of: (namespace: string) => ProofCounts;
  total: ProofCounts;
} {
  const counts = new Map<string, ProofCounts>();
  const total = none();
  for (const { namespace, proof } of pods) {
    const count = counts.get(namespace) ?? none();
    count[proof] += 1;
    counts.set(namespace, count);
    total[proof] += 1;
  }
  return { of: (namespace) => counts.get(namespace) ?? none(), total };
}
