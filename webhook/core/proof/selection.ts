import { isObject } from '../../lib/json.ts';
import { getOwn } from '../../lib/maps.ts';
import { foreign, nameOf, optOutValue, profileLabel } from '../../lib/names.ts';
import { optedInTo } from '../facts/namespace.ts';
import { allContainers, type Container, type Pod, variableOf } from '../facts/pod.ts';
import type { ChosenBy, EarlierCall } from '../facts/status-annotation.ts';
import type { Policy } from '../profiles/policy.ts';
import type { Condition, Matcher, Profile, ProofSettings } from '../profiles/types.ts';

/** Why a pod is exempt. The audit annotation and the metric's label have the same values. */
export type Exemption =
  | 'operation'
  | 'mirror-pod'
  | 'exempt-namespace'
  | 'host-network'
  | 'windows'
  | 'network-daemonset'
  | 'not-opted-in'
  | 'opted-out'
  | 'no-profile-applies';

/** The pod in an admission request, and what the request does. */
export interface AskedPod {
  pod: Pod;
  namespace: string;
  operation: string;
  subResource: string;
}

/**
 * Whether all pods of a namespace are exempt, regardless of labels. The namespaces of cni-gate and of Kubernetes' own
 * components are, because a webhook that delays their pods can keep a cluster from recovering.
 */
export const isExemptNamespace = (namespace: string, ownNamespace: string | undefined): boolean =>
  namespace === 'kube-system' || namespace === ownNamespace;

/**
 * Returns why this pod is exempt, regardless of its labels; undefined if it is not exempt.
 * @param daemonSets `namespace/name` of network DaemonSets, whose pods must not wait for their own network
 */
export function exemption(
  request: AskedPod,
  daemonSets: ReadonlySet<string>,
  ownNamespace: string | undefined,
): Exemption | undefined {
  const { pod, namespace } = request;
  if (request.operation !== 'CREATE' || request.subResource !== '') return 'operation';
  if (isMirrorPod(pod)) return 'mirror-pod';
  if (isExemptNamespace(namespace, ownNamespace)) return 'exempt-namespace';
  if (pod.spec.hostNetwork === true) return 'host-network';
  if (isWindows(pod)) return 'windows';
  const owner = pod.metadata.ownerReferences?.find((reference) => reference.controller === true);
  if (owner?.kind === 'DaemonSet' && daemonSets.has(nameOf({ namespace, name: owner.name })))
    return 'network-daemonset';
  return undefined;
}

/**
 * Whether a pod is the mirror of a static pod, which the kubelet runs in any case. A user who forges the annotation
 * gets a pod that no kubelet runs: docs/decisions/final-pod-policy.md#forged-exemptions.
 */
export const isMirrorPod = ({ metadata }: Pick<Pod, 'metadata'>): boolean =>
  getOwn(metadata.annotations, foreign.mirrorPod) !== undefined;

/** Exemptions whose pods get no patch at all: even an earlier injection stays. */
export function isUntouchable(reason: Exemption): boolean {
  return reason === 'operation' || reason === 'mirror-pod' || reason === 'exempt-namespace';
}

/** Whether a pod runs on Windows only: by `spec.os`, its node selector, or all of its required node affinity terms. */
function isWindows({ spec }: Pod): boolean {
  if (spec.os?.name === 'windows') return true;
  if (foreign.osLabels.some((label) => getOwn(spec.nodeSelector, label) === 'windows')) return true;
  const required = at(at(spec.affinity, 'nodeAffinity'), 'requiredDuringSchedulingIgnoredDuringExecution');
  const terms = listAt(required, 'nodeSelectorTerms');
  return terms.length > 0 && terms.every((term) => listAt(term, 'matchExpressions').some(selectsWindows));
}

function selectsWindows(requirement: unknown): boolean {
  const values = listAt(requirement, 'values');
  return (
    foreign.osLabels.some((label) => label === at(requirement, 'key')) &&
    at(requirement, 'operator') === 'In' &&
    values.length > 0 &&
    values.every((value) => value === 'windows')
  );
}

/** A field of a value whose type is not known, because decoding did not check it. */
const at = (value: unknown, key: string): unknown => (isObject(value) ? value[key] : undefined);

function listAt(value: unknown, key: string): unknown[] {
  const list = at(value, key);
  return Array.isArray(list) ? list : [];
}

/** The profiles that were chosen for a pod, and by whose label. */
export interface Selection {
  /** The label's value, such as `cilium.linkerd`. */
  profile: string;
  chosenBy: ChosenBy;
  /** The value of the pod's label, if it omits profiles of the namespace although `proof.allowOptOut` is false. */
  forbidden?: string;
  chosen: Profile[];
  /** The chosen profiles that apply to the pod. */
  profiles: Profile[];
}

/**
 * Returns the profiles of a pod, or why nothing is proved.
 * @throws CniGateError as in {@link Policy.combineProfiles}
 */
export function select(
  pod: Pod,
  earlier: Pick<EarlierCall, 'copiedLabel'>,
  namespaceLabels: Record<string, string>,
  policy: Pick<Policy, 'proof' | 'combineProfiles'>,
): Selection | 'not-opted-in' | 'opted-out' {
  const choice = choiceFor(pod, earlier, namespaceLabels, policy.proof);
  if (choice === undefined) return 'not-opted-in';
  if (choice.profile === optOutValue) return 'opted-out';
  const chosen = policy.combineProfiles(choice.profile);
  return { ...choice, chosen, profiles: applying(chosen, pod, namespaceLabels) };
}

/**
 * Returns the profiles that the labels name, which may not exist; undefined if the namespace did not opt in. The pod's
 * own label overrides the namespace's; without `proof.allowOptOut`, it can only add profiles. A label that an earlier
 * call copied from the namespace overrides nothing.
 */
export function choiceFor(
  pod: Pod,
  { copiedLabel }: Pick<EarlierCall, 'copiedLabel'>,
  namespaceLabels: Record<string, string>,
  { allowOptOut }: ProofSettings,
): Pick<Selection, 'profile' | 'chosenBy' | 'forbidden'> | undefined {
  const profile = optedInTo(namespaceLabels);
  if (profile === undefined) return undefined;
  const ofPod = copiedLabel ? '' : getOwn(pod.metadata.labels, profileLabel);
  if (!ofPod) return { profile, chosenBy: 'namespace' };
  if (allowOptOut) return { profile: ofPod, chosenBy: 'pod' };
  if (ofPod === optOutValue) return { profile, chosenBy: 'namespace', forbidden: ofPod };
  const named = ofPod.split('.');
  const missing = profile.split('.').filter((name) => !named.includes(name));
  if (missing.length === 0) return { profile: ofPod, chosenBy: 'pod' };
  return { profile: [...missing, ofPod].join('.'), chosenBy: 'pod', forbidden: ofPod };
}

/**
 * The profiles that apply now or after the profiles' annotations are set, so that a later call selects the same ones.
 */
export function applying(
  chosen: readonly Profile[],
  pod: Pod,
  namespaceLabels: Record<string, string>,
): Profile[] {
  let result: Profile[] = [];
  for (let later = pod; ; ) {
    const before = result;
    result = chosen.filter((profile) => before.includes(profile) || applies(profile, later, namespaceLabels));
    const added = result.filter((profile) => !before.includes(profile));
    if (added.every(({ annotations }) => Object.keys(annotations).length === 0)) return result;
    const given = Object.assign({}, ...added.map((profile) => profile.annotations));
    const annotations = { ...given, ...later.metadata.annotations };
    later = { ...pod, metadata: { ...pod.metadata, annotations } };
  }
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

export function allMatch(matchers: Record<string, Matcher> | undefined, map: Labels): boolean {
  return Object.entries(matchers ?? {}).every(([key, matcher]) => matches(matcher, getOwn(map, key)));
}

function holds(condition: Condition, pod: Pod, namespaceLabels: Labels): boolean {
  const { container: wanted, noContainer } = condition;
  const containers = allContainers(pod);
  return (
    (wanted === undefined ||
      containers.some((container) => container.name === wanted && runs(condition, container))) &&
    (noContainer === undefined || !containers.some(({ name }) => name === noContainer)) &&
    allMatch(condition.labels, pod.metadata.labels) &&
    allMatch(condition.annotations, pod.metadata.annotations) &&
    allMatch(condition.namespaceLabels, namespaceLabels)
  );
}

/** Whether the arguments and the environment of a container match a condition. */
function runs({ args = [], env = {} }: Condition, container: Container): boolean {
  const given: unknown = container.args;
  return (
    args.every((argument, at) => Array.isArray(given) && given[at] === argument) &&
    Object.entries(env).every(([name, matcher]) => matches(matcher, variableOf(container, name)))
  );
}

export function applies(profile: Profile, pod: Pod, namespaceLabels: Labels): boolean {
  return [profile.when].flat().some((condition) => holds(condition, pod, namespaceLabels));
}
