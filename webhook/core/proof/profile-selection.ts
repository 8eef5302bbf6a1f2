import { own } from '../../lib/maps.ts';
import { optOutValue, profileLabel } from '../../lib/names.ts';
import { allContainers, type Container, type Pod, variableOf } from '../facts/pod.ts';
import { type ChosenBy, readStatus } from '../facts/status-annotation.ts';
import type { Condition, Matcher, Profile } from '../profiles/types.ts';

/** The profile that applies to a pod, and whose label chose it. */
export interface ProfileSelection {
  /** The label's value, such as `cilium.linkerd`. */
  profile: string;
  chosenBy: ChosenBy;
  /** The pod's label, if it would leave out profiles of its namespace and `proof.allowOptOut` forbids that. */
  forbidden?: string;
}

/** The profile that a namespace opted in to; undefined if it did not. */
export function optedInTo(namespaceLabels: Record<string, string>): string | undefined {
  const profile = own(namespaceLabels, profileLabel);
  return profile === '' || profile === optOutValue ? undefined : profile;
}

/**
 * Returns the chosen profile: the pod's own label overrides the namespace's, but only the namespace can opt in. If the
 * status annotation shows that an earlier call copied the label from the namespace, it overrides nothing. Undefined if
 * the namespace did not opt in.
 *
 * @param allowOptOut `proof.allowOptOut`. If it is false, the pod's label only adds to the namespace's: a profile that
 *   does not apply to the pod would be an opt-out as well
 */
export function selectProfile(
  pod: Pod,
  namespaceLabels: Record<string, string>,
  allowOptOut: boolean,
): ProfileSelection | undefined {
  const ofNamespace = optedInTo(namespaceLabels);
  if (ofNamespace === undefined) return undefined;
  const ofPod = own(pod.metadata.labels, profileLabel);
  if (ofPod === undefined || ofPod === '' || isOurs(pod, ofPod))
    return { profile: ofNamespace, chosenBy: 'namespace' };
  if (allowOptOut) return { profile: ofPod, chosenBy: 'pod' };
  if (ofPod === optOutValue) return { profile: ofNamespace, chosenBy: 'namespace', forbidden: ofPod };
  const named = ofPod.split('.');
  const missing = ofNamespace.split('.').filter((name) => !named.includes(name));
  if (missing.length === 0) return { profile: ofPod, chosenBy: 'pod' };
  return { profile: [...missing, ofPod].join('.'), chosenBy: 'pod', forbidden: ofPod };
}

/** Whether an earlier call copied the pod's label from the namespace. */
export function isOurs(pod: Pod, label: string): boolean {
  const status = readStatus(pod);
  return status?.chosenBy === 'namespace' && status.profile === label;
}

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
