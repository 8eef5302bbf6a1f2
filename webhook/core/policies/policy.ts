import {
  installedPolicies,
  optOutValue,
  profileLabel,
  statusAnnotation,
  validatorContainer,
} from '../../lib/names.ts';
import { version } from '../../lib/version.ts';
import { conflicts } from '../profiles/conflicts.ts';
import type { Policy } from '../profiles/policy.ts';
import { checkNameOf, type Profile } from '../profiles/types.ts';
import { allOf, anyOf, type Cel, list, map, text, textList } from './cel.ts';
import { checksCel, type IdVariables, idsCel, leftOf, ofProfiles } from './checks.ts';
import { conditionsOf, matchConstraints } from './conditions.ts';
import { containerCel, idVariables, resourceVariables, tokenVariables, volumeCel } from './container.ts';
import { appliesCel } from './selection.ts';

/*
 * The MutatingAdmissionPolicy that injects inside the API server (Kubernetes 1.36 or later) what `/mutate` injects: the
 * same steps, facts → selection → plan → container → patch, as variables of the Common Expression Language.
 */

/** A variable of the policy. Later ones read earlier ones as `variables.NAME`. */
interface Variable {
  name: string;
  expression: Cel;
}

const label = (of: 'object' | 'namespaceObject'): Cel =>
  `${of}.metadata.?labels[?${text(profileLabel)}].orValue("")`;

const facts: Record<string, Cel> = {
  status: `object.metadata.?annotations[?${text(statusAnnotation)}].orValue("")`,
  ownLabel: label('object'),
  isCopied: `variables.ownLabel != "" && variables.status.contains("\\"profile\\":\\"" + variables.ownLabel + "\\",\\"chosenBy\\":\\"namespace\\"")`,
  isOwn: 'variables.ownLabel != "" && !variables.isCopied',
  profile: `variables.isOwn ? variables.ownLabel : ${label('namespaceObject')}`,
  names: 'variables.profile.split(".")',
  inits: 'object.spec.?initContainers.orValue([])',
  containers: 'dyn(variables.inits) + dyn(object.spec.containers)',
  others: `variables.containers.filter(c, c.name != ${text(validatorContainer)})`,
  ours: `variables.inits.map(c, c.name == ${text(validatorContainer)} && c.?env.orValue([]).exists(e, e.name.startsWith("CNI_GATE_"))).indexOf(true)`,
  hasDevices: `variables.containers.exists(c, [c.?resources.?limits.orValue({}), c.?resources.?requests.orValue({})].exists(r, r.exists(n, !(n in ["cpu", "memory", "ephemeral-storage"]))))`,
};

/** A MutatingAdmissionPolicy or its binding. */
export interface PolicyObject {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: Record<string, string> };
  spec: object;
}

/** The variables of the policy, in order. */
export function variablesOf(policy: Policy): Variable[] {
  const { proof } = policy;
  const profiles = [...policy.profiles.values()];
  const ids = new Map<string, Record<string, Cel>>();
  const byProfile = new Map<string, IdVariables>();
  for (const [index, profile] of profiles.entries()) {
    const [redirect] = profile.proof.checks.flatMap((check) => ('redirect' in check ? [check.redirect] : []));
    const own = redirect === undefined ? undefined : idsCel(redirect);
    const named = Object.fromEntries(
      Object.entries(own ?? {}).map(([name, value]) => [
        name,
        value === '[]' ? '[]' : `variables.p${index}${name}`,
      ]),
    );
    byProfile.set(profile.name, { asUser: '[]', asGroup: '[]', notAsUser: '[]', notAsGroup: '[]', ...named });
    ids.set(
      profile.name,
      Object.fromEntries(
        Object.entries(own ?? {}).flatMap(([name, value]) =>
          value === '[]' ? [] : [[`p${index}${name}`, value]],
        ),
      ),
    );
  }
  const idList = (name: keyof IdVariables): Cel =>
    profiles
      .flatMap((profile) => {
        const variable = byProfile.get(profile.name)?.[name] ?? '[]';
        return variable === '[]' ? [] : [`(${text(profile.name)} in variables.profiles ? ${variable} : [])`];
      })
      .join(' + ') || '[]';
  const values: Record<string, Cel> = {
    // what an installation sets, by these names
    image: text(proof.image),
    mode: text(proof.mode),
    ...facts,
    profiles: `variables.names.filter(n, ${anyOf(profiles.map((profile) => `n == ${text(profile.name)} && ${appliesCel(profile)}`))})`,
    ...Object.assign({}, ...ids.values()),
    asUsers: idList('asUser'),
    asGroups: idList('asGroup'),
    notAsUsers: idList('notAsUser'),
    notAsGroups: idList('notAsGroup'),
    ...idVariables,
    allNames: `${ofProfiles(profiles.map((profile) => [profile.name, text(profile.proof.checks.map(checkNameOf).join(','))]))}.split(",").filter(n, n != "")`,
    checkNames: 'variables.allNames.transformList(i, n, variables.allNames.indexOf(n) == i, n)',
    hasInterfaces: '"interfaces" in variables.checkNames',
    checks: `"[" + ${ofProfiles(profiles.map((profile) => [profile.name, checksCel(profile, byProfile.get(profile.name) ?? none)]))} + "]"`,
    ...resourceVariables(proof.resources),
    ...tokenVariables,
    left: leftCel(policy, profiles),
    wanted: containerCel(proof),
    newStatus: statusCel,
  };
  return Object.entries(values).map(([name, expression]) => ({ name, expression }));
}

const none: IdVariables = { asUser: '[]', asGroup: '[]', notAsUser: '[]', notAsGroup: '[]' };

/** Why a pod is left to the webhook; empty if it is not. */
function leftCel(policy: Policy, profiles: readonly Profile[]): Cel {
  const pairs = profiles.flatMap((one, index) =>
    profiles
      .slice(index + 1)
      .flatMap((other) => (conflicts([one, other]).length > 0 ? [[one.name, other.name]] : [])),
  );
  const opting = policy.proof.allowOptOut
    ? []
    : [
        [
          'opt-out',
          `variables.isOwn && !${label('namespaceObject')}.split(".").all(n, n in variables.names)`,
        ],
      ];
  const reasons: [string, Cel][] = [
    ['unknown-profile', `!variables.names.all(n, n in ${textList(profiles.map(({ name }) => name))})`],
    ['profile-twice', 'variables.names.exists(n, size(variables.names.filter(m, m == n)) > 1)'],
    [
      'profile-combination',
      anyOf(pairs.map((pair) => allOf(pair.map((name) => `${text(name)} in variables.names`)))),
    ],
    ...(opting as [string, Cel][]),
    [
      'name-taken',
      `variables.containers.exists(c, c.name == ${text(validatorContainer)}) && variables.ours < 0`,
    ],
    ['opted-out', `variables.profile == ${text(optOutValue)}`],
    ['removal', 'variables.ours >= 0 && size(variables.checkNames) == 0'],
    ['contradiction', 'variables.asUsers.exists(u, u in variables.notAsUsers)'],
    ...profiles.flatMap(leftOf),
  ];
  return `${list(reasons.map(([reason, condition]) => `${condition} ? ${text(reason)} : ""`))}.filter(r, r != "").join(",")`;
}

const quoted = (names: Cel): Cel => `${names}.map(n, "\\"" + n + "\\"").join(",")`;

/** The text of the status annotation: `statusText` as an expression. */
const statusCel: Cel =
  `${text(`{"version":"${version}","profile":"`)} + variables.profile + "\\",\\"chosenBy\\":\\"" + ` +
  `(variables.isOwn ? "pod" : "namespace") + "\\"" + (variables.mode == "warn" && size(variables.checkNames) > 0 ? ` +
  `",\\"mode\\":\\"warn\\"" : "") + ",\\"profiles\\":[" + ${quoted('variables.profiles')} + ` +
  `"],\\"checks\\":[" + ${quoted('variables.checkNames')} + "]}"`;

const patch = (op: string, path: Cel, value?: Cel): Cel =>
  `JSONPatch{op: ${text(op)}, path: ${path}${value === undefined ? '' : `, value: ${value}`}}`;

/** The patches, as in proof/patch.ts. */
export function patchesCel({ proof }: Policy): Cel {
  const when = (condition: Cel, ...patches: Cel[]): Cel => `(${condition} ? ${list(patches)} : [])`;
  const entry = (field: string, key: string, value: Cel): Cel =>
    `(object.metadata.?${field}[?${text(key)}].orValue("") == ${value} ? [] : object.metadata.?${field}.hasValue() ? ` +
    `[${patch('add', `${text(`/metadata/${field}/`)} + jsonpatch.escapeKey(${text(key)})`, value)}] : ` +
    `[${patch('add', text(`/metadata/${field}`), `{${text(key)}: ${value}}`)}])`;
  const proves = 'size(variables.checkNames) > 0';
  const isCurrent =
    'variables.status == variables.newStatus && variables.ours == 0 && variables.inits[0].env.exists(e, e.name == "CNI_GATE_CHECKS" && e.?value.orValue("") == variables.checks)';
  return `variables.left != "" ? [] : ${[
    `(${proves} && !(${isCurrent}) ? (variables.ours >= 0 ? [${patch('remove', '"/spec/initContainers/" + string(variables.ours)')}, ${patch('add', '"/spec/initContainers/0"', 'variables.wanted')}] : size(variables.inits) > 0 ? [${patch('add', '"/spec/initContainers/0"', 'variables.wanted')}] : [${patch('add', '"/spec/initContainers"', '[variables.wanted]')}]) : [])`,
    `(variables.hasInterfaces && !object.spec.?volumes.orValue([]).exists(v, v.name == "cni-gate-podinfo") ? (size(object.spec.?volumes.orValue([])) > 0 ? [${patch('add', '"/spec/volumes/-"', volumeCel)}] : [${patch('add', '"/spec/volumes"', `[${volumeCel}]`)}]) : [])`,
    ...proof.imagePullSecrets.map((name) =>
      when(
        `${proves} && !object.spec.?imagePullSecrets.orValue([]).exists(s, s.?name.orValue("") == ${text(name)})`,
        patch('add', '"/spec/imagePullSecrets/-"', map({ name: text(name) })),
      ),
    ),
    `(${proves} ? ${entry('labels', profileLabel, 'variables.profile')} : [])`,
    entry('annotations', statusAnnotation, 'variables.newStatus'),
  ].join(' + ')}`;
}

/** The MutatingAdmissionPolicy and its binding. By default, it is about the same pods as the mutating webhook. */
export function policyObjects(
  policy: Policy,
  constraints: object = matchConstraints,
  conditions: object[] = conditionsOf(policy),
): PolicyObject[] {
  const [name] = installedPolicies;
  const labels = { 'app.kubernetes.io/part-of': 'cni-gate', 'cni-gate.io/admits': 'pods' };
  const apiVersion = 'admissionregistration.k8s.io/v1';
  return [
    {
      apiVersion,
      kind: 'MutatingAdmissionPolicy',
      metadata: { name, labels: { 'app.kubernetes.io/part-of': 'cni-gate' } },
      spec: {
        failurePolicy: 'Fail',
        reinvocationPolicy: 'IfNeeded',
        matchConstraints: constraints,
        matchConditions: conditions,
        variables: variablesOf(policy),
        mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: patchesCel(policy) } }],
      },
    },
    {
      apiVersion,
      kind: 'MutatingAdmissionPolicyBinding',
      // taken away by the one command of docs/guides/break-glass.md
      metadata: { name, labels },
      spec: { policyName: name },
    },
  ];
}
