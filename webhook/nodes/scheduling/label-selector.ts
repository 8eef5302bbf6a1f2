import type { Requirement } from './node-selector.ts';

/** A label selector of an object. */
export interface LabelSelector {
  matchLabels?: Record<string, string> | null;
  matchExpressions?: Requirement[] | null;
}

const words: Record<string, (key: string, values: string) => string> = {
  In: (key, values) => `${key} in (${values})`,
  NotIn: (key, values) => `${key} notin (${values})`,
  Exists: (key) => key,
  DoesNotExist: (key) => `!${key}`,
};

/**
 * A selector as text for a query (Kubernetes, `labels.Parse`); undefined for an empty one, which would select
 * everything.
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
