import { own } from '../own.ts';

/** An expression over a node's labels, or over its fields (`metadata.name` alone). */
export interface NodeRequirement {
  key: string;
  operator: string;
  values?: string[] | null;
}

/** All that it names must hold; one that names nothing holds for no node. */
export interface NodeSelectorTerm {
  matchExpressions?: NodeRequirement[] | null;
  matchFields?: NodeRequirement[] | null;
}

/** What of a pod, or of a pod template, says which nodes it wants. */
export interface NodeWish {
  nodeSelector?: Record<string, string> | null;
  affinity?: {
    nodeAffinity?: {
      requiredDuringSchedulingIgnoredDuringExecution?: {
        nodeSelectorTerms?: NodeSelectorTerm[] | null;
      } | null;
    } | null;
  } | null;
}

/** What of a node such wishes look at. */
export interface LabelledNode {
  name: string;
  labels: Readonly<Record<string, string>>;
}

/**
 * Whether a node is one that the pod wants: its node selector and its required node affinity both hold. Source:
 * Kubernetes, `component-helpers/scheduling/corev1/nodeaffinity`.
 */
export function wantsNode(wish: NodeWish, node: LabelledNode): boolean {
  const selector = Object.entries(wish.nodeSelector ?? {});
  if (!selector.every(([key, value]) => own(node.labels, key) === value)) return false;
  const required = wish.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
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

/** Whether a value, undefined where there is none, is as the requirement asks. An operator not known is not met. */
function matches({ operator, values }: NodeRequirement, value: string | undefined): boolean {
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

/** Both sides are whole numbers, or the requirement is not met. */
function compares(operator: 'Gt' | 'Lt', left: string | undefined, right: string | undefined): boolean {
  const whole = /^[+-]?\d+$/;
  if (left === undefined || right === undefined || !whole.test(left) || !whole.test(right)) return false;
  return operator === 'Gt' ? BigInt(left) > BigInt(right) : BigInt(left) < BigInt(right);
}
