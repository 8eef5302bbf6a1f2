import { CniGateError, type ErrorCode } from '../../lib/errors.ts';
import { getOwn } from '../../lib/maps.ts';
import { podInfoVolume, profileLabel, validatorContainer } from '../../lib/names.ts';
import { version } from '../../lib/version.ts';
import { type NamespaceFacts, optedInTo } from '../facts/namespace.ts';
import { allContainers, type Pod, variableOf } from '../facts/pod.ts';
import { type EarlierCall, earlierCall } from '../facts/status-annotation.ts';
import { conflicts, lacksWitness } from '../profiles/conflicts.ts';
import type { Policy } from '../profiles/policy.ts';
import type { Profile } from '../profiles/types.ts';
import type { Place } from '../proof/ids.ts';
import { planFor } from '../proof/plan.ts';
import { select } from '../proof/selection.ts';
import { textAt } from '../proof/skipped-ports.ts';
import { allOf, anyOf, type Cel, text, textList } from './cel.ts';
import { plainListeners, valueIn } from './checks.ts';
import { annotationCel, redirectsOf } from './ids.ts';

/*
 * Pods that the mutating policy cannot handle, and leaves to the webhook. Instead of a status, they get a mark:
 * `{"version":"VERSION","left":"REASON"}`. Further keys may follow these two.
 */

/**
 * The reasons why a pod is left to the webhook. Each text follows "this pod needs the server of cni-gate: ", and ends
 * with what to do without the server, if anything helps.
 */
export const leftReasons = {
  'too-large': 'it has more containers, variables or volumes than the policy in the API server evaluates',
  'unknown-profile':
    'the label cni-gate.io/profile names a profile that the policy in the API server does not have: correct the label',
  'profile-combination':
    'its profiles or the ids of its proxies contradict each other: see CNI_GATE_PROFILE_COMBINATION',
  'opt-out':
    'its label cni-gate.io/profile leaves out a profile of its namespace, which is not allowed: name that profile too',
  'name-taken':
    'it has a container cni-gate-validator or a volume cni-gate-podinfo that cni-gate did not add: rename it',
  annotations: 'one of its profiles sets annotations',
  'own-validator': "one of its profiles has the network's own validator (proof.container)",
  witness: 'one of its profiles has the kubelet as witness (proof.witness)',
  'skipped-ports': 'an annotation of the pod or its namespace names ports that the mesh does not redirect',
  ids: "an annotation of the pod or its namespace has an id of the mesh's proxy that is not a plain number",
  families: "the mesh's proxy listens on addresses that the policy in the API server does not read",
} as const satisfies Record<string, string>;

/** A key of {@link leftReasons}. */
export type LeftReason = keyof typeof leftReasons;

/**
 * An expression for the mark. The mark also records that the pod's label was copied from the namespace, because the
 * webhook would otherwise take the label for the user's choice.
 *
 * @param reason an expression
 */
export const markCel = (reason: Cel): Cel =>
  `${text(`{"version":"${version}","left":"`)} + ${reason} + (variables.isCopied ? ` +
  '"\\",\\"profile\\":\\"" + variables.ownLabel + "\\",\\"chosenBy\\":\\"namespace\\"}" : "\\"}")';

/** Matches the beginning of a status annotation that is a mark, in RE2 and in JavaScript. */
export const markBeginning = '^[{]"version":"[^"]*","left":"';

/** The form in which the policy can read an id from an annotation. */
const plainId = '^([1-9][0-9]{0,8})?$';

/** A reason that depends on a profile: as an expression for the policy, and as a function for the server. */
interface ProfileReason {
  reason: LeftReason;
  expression: Cel;
  holds(place: Place): boolean;
}

/**
 * The reasons that depend on a profile in the label. Most count even if the profile does not apply yet: a mesh's
 * injector may make it apply, but in the reinvocation the API server calls only webhooks that it has called before.
 * Source: k8s.io/apiserver `pkg/admission/plugin/webhook/mutating/dispatcher.go`, `Dispatch`
 */
function reasonsOf(profile: Profile): ProfileReason[] {
  const { name, proof, annotations } = profile;
  const always = (reason: LeftReason, is: boolean): ProfileReason[] =>
    is ? [{ reason, expression: 'true', holds: () => true }] : [];
  const redirects = redirectsOf([profile]).map(({ settings }) => settings);
  const skipping = redirects.flatMap(({ skippedPorts }) => skippedPorts ?? []);
  const ids = redirects
    .flatMap(({ asUser, notAsUser, notAsGroup }) => [asUser, notAsUser, notAsGroup])
    .flatMap((id) => (typeof id === 'object' ? (id.annotation ?? []) : []));
  const { container = '', env } = proof.families ?? {};
  return [
    ...always('annotations', Object.keys(annotations).length > 0),
    ...always('own-validator', proof.container !== undefined),
    ...always('witness', proof.witness !== undefined),
    ...skipping.map(
      (key): ProfileReason => ({
        reason: 'skipped-ports',
        expression: `${annotationCel(key)} != ""`,
        holds: (place) => Boolean(textAt(place, key)),
      }),
    ),
    ...ids.map(
      (key): ProfileReason => ({
        reason: 'ids',
        expression: `!${annotationCel(key)}.matches(${text(plainId)})`,
        holds: (place) => !new RegExp(plainId).test(textAt(place, key) ?? ''),
      }),
    ),
    ...(env === undefined ? [] : [listenersOf(container, env)]),
  ].map((one) => ({ ...one, expression: allOf([`${text(name)} in variables.names`, one.expression]) }));
}

const listenersOf = (container: string, env: string): ProfileReason => ({
  reason: 'families',
  // the API server bounds the cost of matching a pattern
  expression: `[${valueIn(container, env)}].exists(v, size(v) > ${longestListeners} || !v.matches(${text(plainListeners)}))`,
  holds: ({ pod }) =>
    allContainers(pod)
      .filter(({ name }) => name === container)
      .map((one) => variableOf(one, env) ?? '')
      .some((value) => value.length > longestListeners || !new RegExp(plainListeners).test(value)),
});

/** In characters. */
const longestListeners = 1000;

/** The largest pod that the policy evaluates, because the API server limits the cost of an evaluation. */
const largest = { containers: 200, variables: 1000, volumes: 1000 };
const tooLarge = anyOf([
  `size(variables.others) > ${largest.containers}`,
  `size(variables.volumes) > ${largest.volumes}`,
  `variables.others.exists(c, size(c.?env.orValue([])) > ${largest.variables})`,
]);

/** An expression for the reason why a pod is left to the webhook; an empty string if the policy handles the pod. */
export function leftCel({ profiles: all, proof }: Policy): Cel {
  const profiles = [...all.values()];
  const pairs = profiles.flatMap((one, at) =>
    profiles.slice(at + 1).flatMap((other) => (conflicts([one, other]).length > 0 ? [[one, other]] : [])),
  );
  const isNamed = ({ name }: Profile): Cel => `${text(name)} in variables.names`;
  const witnesses = profiles.filter(({ proof }) => proof.witness !== undefined);
  const unseen = profiles
    .filter((profile) => lacksWitness([profile]))
    .map((profile) => allOf([isNamed(profile), ...witnesses.map((witness) => `!(${isNamed(witness)})`)]));
  const named = textList(profiles.map(({ name }) => name));
  const taken = [
    `variables.ours < 0 && variables.containers.exists(c, c.name == ${text(validatorContainer)})`,
    `variables.volumes.exists(v, v.name == ${text(podInfoVolume)} && !(variables.ours >= 0 && has(v.downwardAPI)))`,
  ];
  const reasons: [LeftReason, Cel][] = [
    ['too-large', tooLarge],
    ['opt-out', `${!proof.allowOptOut} && !variables.namespaceLabel.split(".").all(n, n in variables.names)`],
    ['unknown-profile', `!variables.names.all(n, n in ${named})`],
    ['profile-combination', 'variables.names.exists(n, size(variables.names.filter(m, m == n)) > 1)'],
    ['profile-combination', anyOf([...pairs.map((pair) => allOf(pair.map(isNamed))), ...unseen])],
    ['name-taken', anyOf(taken)],
    ...profiles.flatMap(reasonsOf).map(({ reason, expression }): [LeftReason, Cel] => [reason, expression]),
    ['profile-combination', 'variables.asUser.exists(u, u in variables.notAsUsers)'],
    ['profile-combination', 'variables.asGroup.exists(g, g in variables.notAsGroups)'],
  ];
  const choices = reasons.map(([reason, condition]) => `${condition} ? ${text(reason)} : `);
  return `variables.isExempt ? "" : ${choices.join('')}""`;
}

/** Whether the pod's own label omits a profile that the namespace's label names. */
function leavesOut(pod: Pod, { copiedLabel }: EarlierCall, { labels }: NamespaceFacts): boolean {
  const names = (copiedLabel ? '' : (getOwn(pod.metadata.labels, profileLabel) ?? '')).split('.');
  return (
    names[0] !== '' &&
    optedInTo(labels)
      ?.split('.')
      .every((name) => names.includes(name)) === false
  );
}

function isTooLarge(pod: Pod): boolean {
  const containers = allContainers(pod).filter(({ name }) => name !== validatorContainer);
  return (
    containers.length > largest.containers ||
    (pod.spec.volumes ?? []).length > largest.volumes ||
    containers.some(({ env }) => (env ?? []).length > largest.variables)
  );
}

const isNameTaken = (pod: Pod, injected: boolean): boolean =>
  (!injected && allContainers(pod).some(({ name }) => name === validatorContainer)) ||
  (pod.spec.volumes ?? []).some(
    ({ name, downwardAPI }) => name === podInfoVolume && !(injected && downwardAPI),
  );

const byCode: Partial<Record<ErrorCode, LeftReason>> = {
  CNI_GATE_PROFILE_UNKNOWN: 'unknown-profile',
  CNI_GATE_PROFILE_COMBINATION: 'profile-combination',
};

/** Why the policy leaves a pod to the webhook, and so to the server; undefined if the policy handles the pod. */
export function needsServer(pod: Pod, namespace: NamespaceFacts, policy: Policy): LeftReason | undefined {
  const earlier = earlierCall(pod);
  try {
    if (isTooLarge(pod)) return 'too-large';
    if (!policy.proof.allowOptOut && leavesOut(pod, earlier, namespace)) return 'opt-out';
    const selection = select(pod, earlier, namespace.labels, policy);
    if (typeof selection === 'string') return undefined;
    if (isNameTaken(pod, earlier.container >= 0)) return 'name-taken';
    // in the order of the configuration, as in leftCel
    const chosen = [...policy.profiles.values()].filter((profile) => selection.chosen.includes(profile));
    const rule = chosen.flatMap(reasonsOf).find(({ holds }) => holds({ pod, namespace }));
    if (rule !== undefined) return rule.reason;
    planFor({ pod, namespace: '' }, selection.profiles, namespace, policy.proof);
    return undefined;
  } catch (error) {
    if (error instanceof CniGateError) return byCode[error.code as ErrorCode];
    throw error;
  }
}
