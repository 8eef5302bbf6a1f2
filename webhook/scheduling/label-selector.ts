import { own } from '../lib/own.ts';
import { matches, type Requirement } from './requirement.ts';

/** A label selector as objects have it. */
export interface LabelSelector {
  matchLabels?: Record<string, string> | null;
  matchExpressions?: Requirement[] | null;
}

/** All that a selector asks for: nothing is asked by one that is empty, which selects everything. */
export function requirementsOf({ matchLabels, matchExpressions }: LabelSelector): Requirement[] {
  return [
    ...Object.entries(matchLabels ?? {}).map(([key, value]) => requires(key, value)),
    ...(matchExpressions ?? []),
  ];
}

/** That a label has a value. */
export const requires = (key: string, value: string): Requirement => ({
  key,
  operator: 'In',
  values: [value],
});

export const selects = (
  requirements: readonly Requirement[],
  labels: Readonly<Record<string, string>>,
): boolean => requirements.every((requirement) => matches(requirement, own(labels, requirement.key)));

const words: Record<string, (key: string, values: string) => string> = {
  In: (key, values) => `${key} in (${values})`,
  NotIn: (key, values) => `${key} notin (${values})`,
  Exists: (key) => key,
  DoesNotExist: (key) => `!${key}`,
};

/**
 * A selector in the form that a query has (Kubernetes, `labels.Parse`); undefined for one that is empty, which would
 * select everything.
 */
export function selectorText({ matchLabels, matchExpressions }: LabelSelector): string | undefined {
  const terms = [
    ...Object.entries(matchLabels ?? {}).map(([key, value]) => `${key}=${value}`),
    ...(matchExpressions ?? []).map(({ key, operator, values }) =>
      (words[operator] ?? words.Exists)?.(key, (values ?? []).join(',')),
    ),
  ];
  return terms.length === 0 ? undefined : terms.join(',');
}
