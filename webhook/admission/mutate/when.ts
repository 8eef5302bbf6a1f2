import type { Condition, Matcher, Profile } from '../../config/types.ts';
import { own } from '../../lib/own.ts';
import { allContainers, type Container, type Pod, variableOf } from '../pod.ts';

type Labels = Record<string, string> | null | undefined;

/** As in Kubernetes' label selectors, `notIn` also matches an absent key. */
function matches(matcher: Matcher, value: string | undefined): boolean {
  if (typeof matcher === 'string') return value === matcher;
  const { in: values, notIn, exists } = matcher;
  return (
    (exists === undefined || (value !== undefined) === exists) &&
    (values === undefined || (value !== undefined && values.includes(value))) &&
    (notIn === undefined || value === undefined || !notIn.includes(value))
  );
}

/** Whether labels or annotations match all matchers of a condition. */
export function allMatch(matchers: Record<string, Matcher> | undefined, map: Labels): boolean {
  return Object.entries(matchers ?? {}).every(([key, matcher]) => matches(matcher, own(map, key)));
}

function holds(condition: Condition, pod: Pod, namespaceLabels: Labels): boolean {
  const { container: wanted, noContainer } = condition;
  const containers = allContainers(pod);
  return (
    (wanted === undefined || containers.some((it) => it.name === wanted && runs(condition, it))) &&
    (noContainer === undefined || !containers.some(({ name }) => name === noContainer)) &&
    allMatch(condition.labels, pod.metadata.labels) &&
    allMatch(condition.annotations, pod.metadata.annotations) &&
    allMatch(condition.namespaceLabels, namespaceLabels)
  );
}

/** Whether arguments and environment of a container match a condition. */
function runs({ args = [], env = {} }: Condition, container: Container): boolean {
  const given: unknown = container.args;
  return (
    args.every((word, at) => Array.isArray(given) && given[at] === word) &&
    Object.entries(env).every(([name, matcher]) => matches(matcher, variableOf(container, name)))
  );
}

/** Whether a profile applies to this pod. */
export function applies(profile: Profile, pod: Pod, namespaceLabels: Labels): boolean {
  const conditions = Array.isArray(profile.when) ? profile.when : [profile.when];
  return conditions.some((condition) => holds(condition, pod, namespaceLabels));
}
