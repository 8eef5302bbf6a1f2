import type { NamespaceFacts } from '../../admission/namespaces.ts';
import { weightOfKind } from '../../leader/nominate/pending-pod.ts';
import type { PodEvidence } from '../../nodes/evidence/facts.ts';
import type { NodeFacts } from '../../nodes/readiness/facts.ts';

/** Bytes of an object with its names, and of a map entry without its characters: measured and rounded up. */
const [ofObject, ofEntry] = [1024, 160];

/** Estimated memory of a map of texts or amounts, in bytes. */
function weightOfMap(map: Readonly<Record<string, unknown>> = {}): number {
  let total = 0;
  for (const [key, value] of Object.entries(map)) {
    total += ofEntry + key.length + (typeof value === 'string' ? value.length : 0);
  }
  return total;
}

/** Estimated memory of what cni-gate keeps of a namespace, in bytes. */
export const weightOfNamespace = ({ labels, annotations }: NamespaceFacts): number =>
  ofObject + weightOfMap(labels) + weightOfMap(annotations);

/** Estimated memory of what cni-gate keeps of a node, in bytes. */
export function weightOfNode({ labels, taints, allocatable }: NodeFacts): number {
  const ofTaints = weightOfMap(Object.fromEntries(taints.map(({ key, value }) => [key, value])));
  return ofObject + weightOfMap(labels) + ofTaints + weightOfMap(allocatable);
}

/** Bytes of a pod's verdict with its entries in all maps and without its texts: measured and rounded up. */
const ofEvidence = 704;

/** Bytes of what an ordinary pod requires of a node: the tolerations that the API server adds, and a few terms. */
const ofRequired = 2048;

/**
 * Estimated memory of what cni-gate keeps of a pod's verdict, in bytes. What pods mostly share is not counted: texts, and
 * what an ordinary failed pod requires of a node.
 */
export const weightOfEvidence = ({ name, addresses, required }: PodEvidence): number =>
  ofEvidence +
  2 * name.length +
  addresses.reduce((total, { length }) => total + 32 + length, 0) +
  (required === undefined ? 0 : Math.max(0, weightOfKind(required.kind) - ofRequired));
