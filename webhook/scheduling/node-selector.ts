import { own } from '../lib/own.ts';
import { matches, type Requirement } from './requirement.ts';

/** All that it names must hold; one that names nothing holds for no node. */
export interface NodeSelectorTerm {
  matchExpressions?: Requirement[] | null;
  /** `metadata.name` alone. */
  matchFields?: Requirement[] | null;
}

/** What of a pod, or of a pod template, says which nodes it wants. */
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

/** What of a node such constraints look at. */
export interface LabelledNode {
  name: string;
  labels: Readonly<Record<string, string>>;
}

/**
 * Whether a node is one that the pod wants: its node selector and its required node affinity both hold. Source:
 * Kubernetes, `component-helpers/scheduling/corev1/nodeaffinity`.
 */
export function matchesNode(constraints: NodeConstraints, node: LabelledNode): boolean {
  const selector = Object.entries(constraints.nodeSelector ?? {});
  if (!selector.every(([key, value]) => own(node.labels, key) === value)) return false;
  const required = constraints.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return !required || matchesTerms(required.nodeSelectorTerms ?? [], node);
}

/** Whether one of the terms holds for the node; none does where the list is empty. */
export function matchesTerms(terms: readonly NodeSelectorTerm[], node: LabelledNode): boolean {
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
