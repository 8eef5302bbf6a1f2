import { own } from '../own.ts';
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
