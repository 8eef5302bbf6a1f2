import { getOwn } from '../../lib/maps.ts';
import type { NodeSelectorTerm, PodSpec, Requirement, Taint, Toleration } from '../facts/api.ts';

/** The fields of a pod, or of a pod template, that restrict to which nodes the pod can be bound. */
type NodeConstraints = Pick<PodSpec, 'nodeSelector' | 'affinity'>;

/** The fields of a node that are compared with constraints. */
export interface LabelledNode {
  name: string;
  labels: Readonly<Record<string, string>>;
}

/**
 * Whether a node matches the node selector and the required node affinity. Source: Kubernetes,
 * `scheduling/corev1/nodeaffinity`.
 */
export function matchesNode(constraints: NodeConstraints, node: LabelledNode): boolean {
  const selector = Object.entries(constraints.nodeSelector ?? {});
  if (!selector.every(([key, value]) => getOwn(node.labels, key) === value)) return false;
  const required = constraints.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return !required || matchesTerms(required.nodeSelectorTerms ?? [], node);
}

/** Whether one of the terms matches the node. An empty list matches no node. */
function matchesTerms(terms: readonly NodeSelectorTerm[], node: LabelledNode): boolean {
  return terms.some(({ matchExpressions, matchFields }) => {
    const expressions = matchExpressions ?? [];
    const fields = matchFields ?? [];
    return (
      expressions.length + fields.length > 0 &&
      expressions.every((expression) => matches(expression, getOwn(node.labels, expression.key))) &&
      fields.every((field) => field.key === 'metadata.name' && matches(field, node.name))
    );
  });
}

/** Whether a value meets the requirement; undefined is a missing value. Returns false for an unknown operator. */
export function matches({ operator, values }: Requirement, value: string | undefined): boolean {
  const given = values ?? [];
  switch (operator) {
    case 'In':
      return value !== undefined && given.includes(value);
    case 'NotIn':
      return value === undefined || !given.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    case 'Gt':
    case 'Lt':
      return compares(operator, value, given[0]);
    default:
      return false;
  }
}

/** Compares integers; false if a text is not an integer. Source: Kubernetes, `labels.Requirement.Matches`. */
function compares(operator: 'Gt' | 'Lt', left = '', right = ''): boolean {
  // an int64 has up to 19 digits
  const isWhole = [left, right].every((text) => /^[+-]?\d{1,19}$/.test(text));
  if (!isWhole) return false;
  return operator === 'Gt' ? BigInt(left) > BigInt(right) : BigInt(left) < BigInt(right);
}

/** Effects that keep a pod off a node; `PreferNoSchedule` does not. */
const repelling = new Set(['NoSchedule', 'NoExecute']);

/** Whether the tolerations let a pod onto a node with these taints. */
export const toleratesAll = (tolerations: readonly Toleration[], taints: readonly Taint[]): boolean =>
  taints
    .filter(({ effect }) => repelling.has(effect))
    .every((taint) => tolerations.some((toleration) => tolerates(toleration, taint)));

/** Whether a toleration matches a taint. A missing key or effect matches all. Source: Kubernetes, `ToleratesTaint`. */
function tolerates(toleration: Toleration, taint: Taint): boolean {
  const { key = '', operator = '', value = '', effect = '' } = toleration;
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  if (operator === 'Exists') return true;
  return (operator === '' || operator === 'Equal') && value === (taint.value ?? '');
}

/** What a pod requires of a node, apart from resources and volumes. */
export interface Required {
  constraints: NodeConstraints;
  tolerations: Toleration[];
}

export const requiredOf = (spec: PodSpec): Required => ({
  constraints: {
    nodeSelector: spec.nodeSelector ?? {},
    affinity: { nodeAffinity: spec.affinity?.nodeAffinity ?? null },
  },
  tolerations: spec.tolerations ?? [],
});

/** How many terms are compared with each node. An expression with several values counts as one term. */
export function countTerms({ constraints, tolerations }: Required): number {
  const required = constraints.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const affinity = (required?.nodeSelectorTerms ?? []).reduce(
    // an empty term needs a comparison too
    (sum, { matchExpressions, matchFields }) =>
      sum + Math.max(1, (matchExpressions ?? []).length + (matchFields ?? []).length),
    0,
  );
  return Object.keys(constraints.nodeSelector ?? {}).length + affinity + tolerations.length;
}

/** Whether a pod has PersistentVolumeClaims, whose volumes can often be used in one zone only. */
export const hasClaims = (volumes: PodSpec['volumes']): boolean =>
  (volumes ?? []).some(({ persistentVolumeClaim, ephemeral }) => Boolean(persistentVolumeClaim || ephemeral));

/** The label with a node's zone. */
export const zoneLabel = 'topology.kubernetes.io/zone';
