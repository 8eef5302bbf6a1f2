import type { Condition, Matcher, Profile } from '../config/types.ts';
import { own } from '../own.ts';
import { allContainers, type Pod } from './pod.ts';

type Labels = Record<string, string> | null | undefined;

/** As Kubernetes' label selectors: `notIn` holds where the key is absent as well. */
function matches(matcher: Matcher, value: string | undefined): boolean {
  if (typeof matcher === 'string') return value === matcher;
  if ('exists' in matcher) return (value !== undefined) === matcher.exists;
  if ('in' in matcher) return value !== undefined && matcher.in.includes(value);
  return value === undefined || !matcher.notIn.includes(value);
}

function allMatch(matchers: Record<string, Matcher> | undefined, map: Labels): boolean {
  return Object.entries(matchers ?? {}).every(([key, matcher]) => matches(matcher, own(map, key)));
}

function holds(condition: Condition, pod: Pod, namespaceLabels: Labels): boolean {
  const has = (name: string): boolean => allContainers(pod).some((container) => container.name === name);
  return (
    (condition.container === undefined || has(condition.container)) &&
    (condition.noContainer === undefined || !has(condition.noContainer)) &&
    allMatch(condition.labels, pod.metadata.labels) &&
    allMatch(condition.annotations, pod.metadata.annotations) &&
    allMatch(condition.namespaceLabels, namespaceLabels)
  );
}

/** Whether a profile promises anything to this pod. */
export function applies(profile: Profile, pod: Pod, namespaceLabels: Labels): boolean {
  const conditions = Array.isArray(profile.when) ? profile.when : [profile.when];
  return conditions.some((condition) => holds(condition, pod, namespaceLabels));
}
