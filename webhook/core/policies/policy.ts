import { stringify } from 'yaml';
import {
  installedPolicies,
  podInfoVolume,
  profileLabel,
  statusAnnotation,
  validatorContainer,
} from '../../lib/names.ts';
import { version } from '../../lib/version.ts';
import { reasonText } from '../facts/status-annotation.ts';
import type { Policy } from '../profiles/policy.ts';
import { checkNameOf, type Profile } from '../profiles/types.ts';
import { counted } from '../proof/resources.ts';
import { allOf, anyOf, applies, type Cel, inPlace, ofProfiles, text, textList } from './cel.ts';
import { checksCel } from './checks.ts';
import {
  conditionsOf,
  hasStatus,
  isRecorded,
  leftByThePolicy,
  matchConstraints,
  ofANetwork,
} from './conditions.ts';
import { containerVariables } from './container.ts';
import { isCurrent } from './current.ts';
import { idVariables, redirectsOf } from './ids.ts';
import { leftCel } from './left.ts';
import { patchesCel } from './patches.ts';
import { appliesCel } from './selection.ts';

/*
 * The MutatingAdmissionPolicy that injects inside the API server (Kubernetes 1.36 or later) what `/mutate` injects. Its
 * CEL variables follow the same steps: facts → selection → plan → container → patch.
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

/** What an earlier call added, and the parts of the pod. Unlike the webhook, the policy does not parse the status. */
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
  ours: `variables.inits.map(c, ${isOurs}).indexOf(true)`,
  volumes: 'object.spec.?volumes.orValue([])',
  volume: `variables.volumes.map(v, v.name).indexOf(${text(podInfoVolume)})`,
};

/** The indexes of the containers that the proofs replace, and the containers that stay: `replaced` in proof/plan.ts. */
function replacedVariables(profiles: readonly Profile[]): Record<string, Cel> {
  const replacing = profiles.filter(({ proof }) => proof.replaces !== undefined);
  const others = `variables.planned.filter(c, c.name != ${text(validatorContainer)})`;
  if (replacing.length === 0) return { planned: 'variables.containers', others };
  const isReplaced = replacing.map(({ name, proof: { replaces = [] } }) =>
    allOf([applies(name), `c.name in ${textList(replaces)}`]),
  );
  return {
    replaced: `variables.mode == "warn" ? [] : variables.inits.transformList(i, c, ${anyOf(isReplaced)}, i)`,
    planned: 'variables.containers.transformList(i, c, !(i in variables.replaced), c)',
    others,
  };
}

/** Whether a container requests a resource that only some nodes have: see `requestsDevices` in proof/plan.ts. */
const hasDevices =
  'variables.planned.exists(c, [c.?resources.?limits.orValue({}), c.?resources.?requests.orValue({})]' +
  `.exists(m, m.exists(n, !(n in ${textList(counted)}))))`;

/** The CEL counterpart of `statusText`: the text of the status annotation. */
const quoted = (names: Cel): Cel => `${names}.map(n, "\\"" + n + "\\"").join(",")`;
const newStatus = [
  text(`{"version":"${version}","profile":"`),
  'variables.profile',
  '"\\",\\"chosenBy\\":\\"" + (variables.isOwn ? "pod" : "namespace")',
  '(variables.mode == "warn" && size(variables.checkNames) > 0 ? "\\",\\"mode\\":\\"warn" : "")',
  `"\\",\\"profiles\\":[" + ${quoted('variables.profiles')}`,
  `"],\\"checks\\":[" + ${quoted('variables.checkNames')} + "]}"`,
].join(' + ');

/** The variables that are evaluated once. All others are replaced by their values, which costs less. */
const shared = (
  'image mode containers others names ours isExempt profiles replaced asUser notAsUsers notAsGroups left allNames ' +
  'checkNames isGuaranteed mounts wanted newStatus'
).split(' ');

/** The variables of the policy. Each can read those before it, as `variables.NAME`. */
function variablesOf(policy: Policy): Record<string, Cel> {
  const { proof } = policy;
  const profiles = [...policy.profiles.values()];
  const redirects = redirectsOf(profiles);
  const applying = Array.from(
    Map.groupBy(profiles, appliesCel),
    ([condition, of]) => `n in ${textList(of.map(({ name }) => name))} && ${condition}`,
  );
  // without the alternative `hasStatus`, which selects exempt pods only to remove their status
  const holding = conditionsOf(policy).map(
    ({ expression }) => `(${expression.replace(` || ${hasStatus}`, '')})`,
  );
  const ofChecks = (of: (profile: Profile) => Cel): Cel =>
    ofProfiles(profiles.map((profile) => [profile.name, of(profile)]));
  return {
    // the overlays of manifests/ replace the first two variables
    image: text(proof.image),
    mode: text(proof.mode),
    ...facts,
    isExempt: `!${allOf(holding)}`,
    isRecorded: isRecorded(policy),
    profiles: `variables.isExempt ? [] : variables.names.filter(n, ${anyOf(applying)})`,
    ...replacedVariables(profiles),
    ...idVariables(redirects),
    left: leftCel(policy),
    allNames: `${ofChecks(({ proof }) => text(proof.checks.map(checkNameOf).join(',')))}.split(",").filter(n, n != "")`,
    checkNames: 'variables.allNames.transformList(i, n, variables.allNames.indexOf(n) == i, n)',
    hasInterfaces: '"interfaces" in variables.checkNames',
    hasDevices,
    checks: `"[" + ${ofChecks((profile) => checksCel(profile, redirects))} + "]"`,
    ...containerVariables(proof),
    isCurrent,
    newStatus: `variables.isExempt ? ${text(reasonText('network-daemonset'))} : ${newStatus}`,
  };
}

/**
 * The MutatingAdmissionPolicy and its binding. They select the same pods as the mutating webhook, and pods of networks'
 * DaemonSets, to record why these are exempt: the policy that checks the final pod knows only the built-in DaemonSets.
 * The failurePolicy is `Fail`, so an expression that fails refuses the pod. With `Ignore`, a status annotation that the
 * user wrote would stay.
 */
export function policyObjects(policy: Policy): PolicyObject[] {
  const [name] = installedPolicies;
  const labels = { 'app.kubernetes.io/part-of': 'cni-gate' };
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const all = variablesOf(policy);
  const conditions = conditionsOf(policy).filter(({ name }) => name !== ofANetwork);
  const ids = redirectsOf([...policy.profiles.values()]).map(({ variable }) => variable);
  const [variables, expression] = inPlace(all, patchesCel(policy.proof, 'replaced' in all), [
    ...shared,
    ...ids,
  ]);
  return [
    {
      apiVersion,
      kind: 'MutatingAdmissionPolicy',
      metadata: { name, labels },
      spec: {
        failurePolicy: 'Fail',
        reinvocationPolicy: 'IfNeeded',
        matchConstraints,
        // a single condition, because the API server runs each as a separate program, for every pod that may match
        matchConditions: [
          {
            name: 'not-left-alone',
            expression: allOf(conditions.map(({ expression }) => `(${expression})`)),
          },
        ],
        variables: Object.entries(variables).map(([name, expression]) => ({ name, expression })),
        mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression } }],
      },
    },
    {
      apiVersion,
      kind: 'MutatingAdmissionPolicyBinding',
      // the command of docs/guides/break-glass.md deletes objects with this label
      metadata: { name, labels: { ...labels, 'cni-gate.io/admits': 'pods' } },
      spec: { policyName: name },
    },
  ];
}

const yaml = (value: object): string => stringify(value, { lineWidth: 120, version: '1.1' });

/** The mutating policy for a configuration, followed by the policy's binding, as YAML in a stable order. */
export const policiesYaml = (policy: Policy): string => policyObjects(policy).map(yaml).join('---\n');

/**
 * The JSON patch for a mutating webhook that is used together with a mutating policy: few pods then need the webhook,
 * and the policy that checks the final pod refuses them if the webhook does not answer.
 */
export const webhookPatch = (): string =>
  yaml([
    { op: 'replace', path: '/webhooks/0/failurePolicy', value: 'Ignore' },
    { op: 'replace', path: '/webhooks/0/timeoutSeconds', value: 2 },
    { op: 'add', path: '/webhooks/0/matchConditions/-', value: leftByThePolicy },
  ]);
