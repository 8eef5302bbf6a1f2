import type { NamespaceFacts } from '../admission/namespaces.ts';
import type { NodeFacts } from '../readiness/facts.ts';

/** Bytes of an object with its names, and of an entry of a map besides its characters: measured, rounded up. */
const [ofObject, ofEntry] = [1024, 160];

/** How much memory a map of texts or amounts takes, in bytes, estimated. */
function weightOfMap(map: Readonly<Record<string, unknown>> = {}): number {
  let total = 0;
  for (const [key, value] of Object.entries(map)) {
    total += ofEntry + key.length + (typeof value === 'string' ? value.length : 0);
  }
  return total;
}

/** How much memory is taken by what is kept of a namespace, in bytes, estimated. */
export const weightOfNamespace = ({ labels, annotations }: NamespaceFacts): number =>
  ofObject + weightOfMap(labels) + weightOfMap(annotations);

/** How much memory is taken by what is kept of a node, in bytes, estimated. */
export function weightOfNode({ labels, taints, allocatable }: NodeFacts): number {
  const ofTaints = taints.reduce(
    (total, { key, value = '' }) => total + ofEntry + key.length + value.length,
    0,
  );
  return ofObject + weightOfMap(labels) + ofTaints + weightOfMap(allocatable);
}
