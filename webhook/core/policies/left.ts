import { parseTarget } from '../../../validator/shared/targets.ts';
import { CniGateError, type ErrorCode } from '../../lib/errors.ts';
import { podInfoVolume, validatorContainer } from '../../lib/names.ts';
import { version } from '../../lib/version.ts';
import type { NamespaceFacts } from '../facts/namespace.ts';
import { allContainers, type Pod } from '../facts/pod.ts';
import { earlierCall } from '../facts/status-annotation.ts';
import { conflicts, lacksWitness } from '../profiles/conflicts.ts';
import type { Policy } from '../profiles/policy.ts';
import type { Profile, RedirectSettings } from '../profiles/types.ts';
import type { Place } from '../proof/ids.ts';
import { planFor } from '../proof/plan.ts';
import { choiceFor, select } from '../proof/selection.ts';
import { portsOf, textAt } from '../proof/skipped-ports.ts';
import { allOf, anyOf, type Cel, text, textList } from './cel.ts';
import { annotationCel, redirectsOf } from './ids.ts';

/*
 * Pods that the mutating policy cannot handle, and leaves to the webhook. Their status annotation has a mark instead of
 * the status: `{"version":"VERSION","left":"REASON"}`. Further keys may follow these two.
 */

/**
 * The reasons why a pod is left to the webhook. Each text follows "this pod needs the server of cni-gate: ", and ends
 * with what to do without the server, if anything helps.
 */
export const leftReasons = {
  'unknown-profile':
    'the label cni-gate.io/profile names a profile that the policy in the API server does not have: correct the label',
  'profile-combination':
    'its profiles or the ids of its proxies contradict each other: see CNI_GATE_PROFILE_COMBINATION',
  'opt-out':
    'its label cni-gate.io/profile leaves out a profile of its namespace, which is not allowed: name that profile too',
  'name-taken':
    'it has a container cni-gate-validator or a volume cni-gate-podinfo that cni-gate did not add: rename it',
  annotations: 'the label cni-gate.io/profile names a profile that sets annotations',
  'own-validator':
    "the label cni-gate.io/profile names a profile with the network's own validator (proof.container)",
  witness: 'the label cni-gate.io/profile names a profile with the kubelet as witness (proof.witness)',
  'skipped-ports':
    'an annotation of the pod or its namespace exempts the port to which the proof connects: exempt other ports',
} as const satisfies Record<string, string>;

/** A key of {@link leftReasons}. */
export type LeftReason = keyof typeof leftReasons;

/**
 * An expression for the mark. The mark also records that the pod's label was copied from the namespace, because the
 * webhook would otherwise take the label for the user's choice.
 *
 * @param reason an expression for the reason and, after a space, the profile, annotation or variable that causes it
 */
export const markCel = (reason: Cel): Cel =>
  `${text(`{"version":"${version}","left":"`)} + ${reason}.replace(" ", "\\",\\"by\\":\\"") + (variables.isCopied ? ` +
  '"\\",\\"profile\\":\\"" + variables.ownLabel + "\\",\\"chosenBy\\":\\"namespace\\"}" : "\\"}")';

/** Matches the beginning of a status annotation that is a mark, in RE2 and in JavaScript. */
export const markBeginning = '^[{]"version":"[^"]*","left":"';

/** A reason that depends on a profile, as an expression for the policy and as a function for the server. */
interface ProfileReason {
  reason: LeftReason;
  /** The profile, annotation or variable that is the cause. */
  by: string;
  expression: Cel;
  holds(place: Place): boolean;
}

/**
 * The reasons that depend on a profile in the label. They count even if the profile does not apply yet: a mesh's
 * injector may make it apply, but in a reinvocation the API server calls only webhooks that it has called before.
 * Source: k8s.io/apiserver `pkg/admission/plugin/webhook/mutating/dispatcher.go`, `Dispatch`
 */
function reasonsOf(profile: Profile): ProfileReason[] {
  const { name, proof, annotations } = profile;
  const always = (reason: LeftReason, is: boolean): ProfileReason[] =>
    is ? [{ reason, by: name, expression: 'true', holds: () => true }] : [];
  return [
    ...always('annotations', Object.keys(annotations).length > 0),
    ...always('own-validator', proof.container !== undefined),
    ...always('witness', proof.witness !== undefined),
    ...redirectsOf([profile]).flatMap(({ settings }) => skipping(settings)),
  ].map((one) => ({ ...one, expression: allOf([`${text(name)} in variables.names`, one.expression]) }));
}

/** The policy reads no list of ports with a character that is not printable ASCII, or with ten digits in a row. */
const oddPorts = '[^ -~]|[0-9]{10}';

function skipping({ connect, skippedPorts: key }: RedirectSettings): ProfileReason[] {
  if (key === undefined) return [];
  const targets = [...new Set(connect.map((target) => parseTarget(target)?.port ?? 0))];
  // items that are neither a port nor a range do not count, as in `portsOf`
  const isSkipped =
    'p.matches("^ *[0-9]+(-[0-9]+)? *$") && [p.trim().split("-")].exists(r, ' +
    `[${targets}].exists(t, int(r[0]) <= t && t <= int(r[size(r) - 1])))`;
  const isRead = `size(v) <= ${longest} && !v.matches(${text(oddPorts)})`;
  return [
    {
      reason: 'skipped-ports',
      by: key,
      expression: `[${annotationCel(key)}].exists(v, !(${isRead}) || v.split(",").exists(p, ${isSkipped}))`,
      holds: (place) => {
        const value = textAt(place, key) ?? '';
        const skipped = portsOf(value);
        return (
          value.length > longest || new RegExp(oddPorts).test(value) || targets.some((port) => skipped[port])
        );
      },
    },
  ];
}

/** The longest list of ports that the policy reads, in characters. */
const longest = 1000;

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
  const reasons: [string, Cel][] = [
    ['opt-out', `${!proof.allowOptOut} && !variables.namespaceLabel.split(".").all(n, n in variables.names)`],
    ['unknown-profile', `!variables.names.all(n, n in ${named})`],
    ['profile-combination', 'variables.names.exists(n, size(variables.names.filter(m, m == n)) > 1)'],
    ['profile-combination', anyOf([...pairs.map((pair) => allOf(pair.map(isNamed))), ...unseen])],
    ['name-taken', anyOf(taken)],
    ...profiles
      .flatMap(reasonsOf)
      .map(({ reason, by, expression }): [string, Cel] => [`${reason} ${by}`, expression]),
    ['profile-combination', 'variables.asUser.exists(u, u in variables.notAsUsers)'],
    ['profile-combination', 'variables.asGroup.exists(g, g in variables.notAsGroups)'],
  ];
  const choices = reasons.map(([reason, condition]) => `${condition} ? ${text(reason)} : `);
  return `variables.isExempt ? "" : ${choices.join('')}""`;
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
    if (choiceFor(pod, earlier, namespace.labels, policy.proof)?.forbidden !== undefined) return 'opt-out';
    const selection = select(pod, earlier, namespace.labels, policy);
    if (typeof selection === 'string') return undefined;
    if (isNameTaken(pod, earlier.container >= 0)) return 'name-taken';
    // in the order of the configuration, as in leftCel
    const chosen = [...policy.profiles.values()].filter((profile) => selection.chosen.includes(profile));
    const rule = chosen.flatMap(reasonsOf).find(({ holds }) => holds({ pod, namespace }));
    if (rule !== undefined) return rule.reason;
    planFor({ pod, namespace }, selection.profiles, policy.proof);
    return undefined;
  } catch (error) {
    if (error instanceof CniGateError) return byCode[error.code as ErrorCode];
    throw error;
  }
}
