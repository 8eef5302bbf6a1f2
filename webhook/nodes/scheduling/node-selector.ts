import { own } from '../../lib/own.ts';
import { matches, type Requirement } from './requirement.ts';

/** All its requirements must be met. An empty term matches no node. */
export interface NodeSelectorTerm {
  matchExpressions?: Requirement[] | null;
  /** Only `metadata.name`. */
  matchFields?: Requirement[] | null;
}

/** The parts of a pod, or of a pod template, that restrict its nodes. */
export interface NodeConstraints {
  nodeSelector?: Record<string, string> | null;
  affinity?: {
    nodeAffinity?: {
      requiredDuringSchedulingIgnoredDuringExecution?: {
        nodeSelectorTerms?: NodeSelectorTerm[] | null;
      } | null;
    } | null;
  } | null;
}

/** The parts of a node that such constraints use. */
export interface LabelledNode {
  name: string;
  labels: Readonly<Record<string, string>>;
}

/**
 * Whether a node matches the pod's node selector and its required node affinity. Source: Kubernetes,
 * `component-helpers/scheduling/corev1/nodeaffinity`.
 */
export function matchesNode(constraints: NodeConstraints, node: LabelledNode): boolean {
  const selector = Object.entries(constraints.nodeSelector ?? {});
  if (!selector.every(([key, value]) => own(node.labels, key) === value)) return false;
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
      expressions.every((expression) => matches(expression, own(node.labels, expression.key))) &&
      fields.every((field) => field.key === 'metadata.name' && matches(field, node.name))
    );
  });
}
