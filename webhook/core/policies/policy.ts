import {
  installedPolicies,
  podInfoVolume,
  profileLabel,
  statusAnnotation,
  validatorContainer,
} from '../../lib/names.ts';
import { version } from '../../lib/version.ts';
import type { Policy } from '../profiles/policy.ts';
import { checkNameOf } from '../profiles/types.ts';
import { counted } from '../proof/resources.ts';
import { allOf, anyOf, type Cel, ofProfiles, text, textList } from './cel.ts';
import { checksCel } from './checks.ts';
import {
  conditionsOf,
  matchConstraints as constraints,
  type MatchCondition,
  orHasStatus,
} from './conditions.ts';
import { containerVariables } from './container.ts';
import { isCurrent } from './current.ts';
import { idVariables, redirectsOf } from './ids.ts';
import { leftCel } from './left.ts';
import { forgetStatus, patchesCel } from './patches.ts';
import { appliesCel } from './selection.ts';

/*
 * The MutatingAdmissionPolicy that injects inside the API server (Kubernetes 1.36 or later) what `/mutate` injects: the
 * same steps, facts → selection → plan → container → patch, as variables of the Common Expression Language.
 */

/** A MutatingAdmissionPolicy or its binding. */
export interface PolicyObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: Record<string, string> };
  spec: object;
}

const labelOf = (owner: 'object' | 'namespaceObject'): Cel =>
  `${owner}.metadata.?labels[?${text(profileLabel)}].orValue("")`;
const isOurs =
  `c.name == ${text(validatorContainer)} && ` +
  'c.?env.orValue([]).exists(e, e.name.startsWith("CNI_GATE_"))';

/** What an earlier call left, and the pod's parts. The webhook parses the status; the policy compares its text. */
const facts: Record<string, Cel> = {
  status: `object.metadata.?annotations[?${text(statusAnnotation)}].orValue("")`,
  ownLabel: labelOf('object'),
  namespaceLabel: labelOf('namespaceObject'),
  isCopied:
    'variables.ownLabel != "" && variables.status.contains(' +
    '"\\"profile\\":\\"" + variables.ownLabel + "\\",\\"chosenBy\\":\\"namespace\\"")',
  isOwn: 'variables.ownLabel != "" && !variables.isCopied',
  profile: 'variables.isOwn ? variables.ownLabel : variables.namespaceLabel',
  names: 'variables.profile.split(".")',
  inits: 'object.spec.?initContainers.orValue([])',
  containers: 'dyn(variables.inits) + dyn(object.spec.containers)',
  others: `variables.containers.filter(c, c.name != ${text(validatorContainer)})`,
  ours: `variables.inits.map(c, ${isOurs}).indexOf(true)`,
  volumes: 'object.spec.?volumes.orValue([])',
  volume: `variables.volumes.map(v, v.name).indexOf(${text(podInfoVolume)})`,
};

/** A resource that only some nodes have: see `requestsDevices` in proof/plan.ts. */
const hasDevices =
  'variables.containers.exists(c, ["limits", "requests"].exists(f, ' +
  `c.?resources[?f].orValue({}).exists(n, !(n in ${textList(counted)}))))`;

/** The text of the status annotation: `statusText` as an expression. */
function statusCel(): Cel {
  const quoted = (names: Cel): Cel => `${names}.map(n, "\\"" + n + "\\"").join(",")`;
  const mode =
    '(variables.mode == "warn" && size(variables.checkNames) > 0 ? ",\\"mode\\":\\"warn\\"" : "") + ';
  return (
    `${text(`{"version":"${version}","profile":"`)} + variables.profile + "\\",\\"chosenBy\\":\\"" + ` +
    `(variables.isOwn ? "pod" : "namespace") + "\\"" + ${mode}",\\"profiles\\":[" + ` +
    `${quoted('variables.profiles')} + "],\\"checks\\":[" + ${quoted('variables.checkNames')} + "]}"`
  );
}

/** The variables of the policy, in order: each reads those before it as `variables.NAME`. */
function variablesOf(policy: Policy, conditions: readonly MatchCondition[]): Record<string, Cel> {
  const { proof } = policy;
  const profiles = [...policy.profiles.values()];
  const redirects = redirectsOf(profiles);
  // a pod may not opt out without proof.allowOptOut: leftCel
  const exempting = conditions.filter(({ name }) => proof.allowOptOut || name !== 'not-opted-out');
  const applying = profiles.map((profile) => allOf([`n == ${text(profile.name)}`, appliesCel(profile)]));
  const namesOfChecks = profiles.map(({ name, proof: { checks } }): [string, Cel] => [
    name,
    text(checks.map(checkNameOf).join(',')),
  ]);
  return {
    // what manifests and chart set, by these names
    image: text(proof.image),
    mode: text(proof.mode),
    ...facts,
    isExempt: `!${allOf(exempting.map(({ expression }) => `(${expression.replace(orHasStatus, '')})`))}`,
    profiles: `variables.isExempt ? [] : variables.names.filter(n, ${anyOf(applying)})`,
    ...idVariables(redirects),
    left: leftCel(policy),
    allNames: `${ofProfiles(namesOfChecks)}.split(",").filter(n, n != "")`,
    checkNames: 'variables.allNames.transformList(i, n, variables.allNames.indexOf(n) == i, n)',
    hasInterfaces: '"interfaces" in variables.checkNames',
    hasDevices,
    checks: `"[" + ${ofProfiles(profiles.map((profile) => [profile.name, checksCel(profile, redirects)]))} + "]"`,
    ...containerVariables(proof),
    isCurrent,
    newStatus: statusCel(),
  };
}

/**
 * The MutatingAdmissionPolicy and its binding. If an expression fails, the pod has no status of its own, and the API
 * server calls the webhook: so `Ignore` lets no pod pass without a review.
 *
 * @param matchConstraints by default those of the mutating webhook
 * @param matchConditions by default those of the mutating webhook
 */
export function policyObjects(
  policy: Policy,
  matchConstraints: object = constraints,
  matchConditions: readonly MatchCondition[] = conditionsOf(policy),
): PolicyObject[] {
  const metadata = { name: installedPolicies[0], labels: { 'app.kubernetes.io/part-of': 'cni-gate' } };
  // the binding is taken away by the one command of docs/guides/break-glass.md
  const labels = { ...metadata.labels, 'cni-gate.io/admits': 'pods' };
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const variables = Object.entries(variablesOf(policy, matchConditions));
  return [
    {
      apiVersion,
      kind: 'MutatingAdmissionPolicy',
      metadata,
      spec: {
        failurePolicy: 'Ignore',
        reinvocationPolicy: 'IfNeeded',
        matchConstraints,
        matchConditions,
        variables: variables.map(([name, expression]) => ({ name, expression })),
        mutations: [forgetStatus, patchesCel(policy.proof)].map((expression) => ({
          patchType: 'JSONPatch',
          jsonPatch: { expression },
        })),
      },
    },
    {
      apiVersion,
      kind: 'MutatingAdmissionPolicyBinding',
      metadata: { ...metadata, labels },
      spec: { policyName: metadata.name },
    },
  ];
}
