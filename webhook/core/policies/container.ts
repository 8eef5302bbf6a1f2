import { env, validateCommand } from '../../../validator/shared/contract.ts';
import {
  foreign,
  networkStatusPath,
  podInfoMountPath,
  podInfoVolume,
  validatorContainer,
} from '../../lib/names.ts';
import type { ProofSettings } from '../profiles/types.ts';
import { imageUser } from '../proof/ids.ts';
import { counted } from '../proof/resources.ts';
import { type Cel, list, literal, map, optional, text, textList } from './cel.ts';

/*
 * The init container of a pod: proof/container.ts, resources.ts and ids.ts as expressions, over the variables that
 * policy.ts declares.
 */

/** Whether the pod's own resources decide its QoS class. */
const hasPodResources =
  '(size(object.spec.?resources.?requests.orValue({})) + size(object.spec.?resources.?limits.orValue({})) > 0)';

const limitOf = (container: Cel, name: string): Cel => `${container}.?resources.?limits[?${text(name)}]`;
const requestOf = (container: Cel, name: string): Cel =>
  `${container}.?resources.?requests[?${text(name)}].or(${limitOf(container, name)})`;

const isGuaranteed = `variables.others.all(c, ${['cpu', 'memory']
  .map(
    (name) =>
      `${limitOf('c', name)}.hasValue() && quantity(string(${limitOf('c', name)}.value())).compareTo(quantity(string(${requestOf('c', name)}.value()))) == 0`,
  )
  .join(' && ')})`;

/** The variables for the resources: which of them all other containers set. */
export function resourceVariables({ requests, limits }: ProofSettings['resources']): Record<string, Cel> {
  const entries = (
    of: (container: Cel, name: string) => Cel,
    amount: (name: (typeof counted)[number]) => Cel,
  ): Cel =>
    map(
      Object.fromEntries(
        counted.map((name) => [
          name,
          optional(
            `variables.others.all(c, ${of('c', name)}.hasValue())`,
            `variables.others.exists(c, quantity(string(${of('c', name)}.value())).isGreaterThan(quantity("0"))) ? ${amount(name)} : "0"`,
          ),
        ]),
      ),
    );
  const limit = (name: (typeof counted)[number]): Cel => text(String(limits[name]));
  return {
    isGuaranteed,
    requests: entries(
      requestOf,
      (name) => `(variables.isGuaranteed ? ${limit(name)} : ${text(String(requests[name]))})`,
    ),
    limits: entries(limitOf, limit),
    hasResources: `!${hasPodResources} && size(variables.others) > 0 && size(variables.requests) + size(variables.limits) > 0`,
  };
}

/** The variables for the ids: those of all profiles together, and the first id that the checks permit. */
export const idVariables: Record<string, Cel> = {
  podUser: 'object.spec.?securityContext.?runAsUser.optMap(i, [i]).orValue([])',
  podGroup: 'object.spec.?securityContext.?runAsGroup.optMap(i, [i]).orValue([])',
  user: `size(variables.podUser) > 0 ? variables.podUser[0] : ${imageUser}`,
  groups: `size(variables.podGroup) > 0 ? variables.podGroup : size(variables.podUser) > 0 ? [] : [${imageUser}]`,
  changesUser: 'variables.user == 0 || variables.user in variables.notAsUsers',
  changesGroup: 'variables.changesUser || variables.groups.exists(g, g in variables.notAsGroups)',
  // each profile excludes at most one user and one group
  free: `${list(Array.from({ length: 16 }, (_, index) => String(65_534 - index)))}.filter(i, !(i in variables.notAsUsers) && !(i in variables.notAsGroups))[0]`,
};

/** Where the API server's plugin mounts the token: see `tokenMount` in facts/pod.ts. */
const tokenPath = '/var/run/secrets/kubernetes.io/serviceaccount';
export const tokenVariables: Record<string, Cel> = {
  tokens: `object.spec.?automountServiceAccountToken.orValue(true) && variables.others.all(c, c.?volumeMounts.orValue([]).exists(m, m.mountPath == ${text(tokenPath)})) ? object.spec.?volumes.orValue([]).filter(v, v.name.startsWith("kube-api-access-")).map(v, v.name) : []`,
};

const fieldRef = (name: string, fieldPath: string): Cel =>
  literal({ name, valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } } });
const annotation = (key: string): string => `metadata.annotations['${key}']`;

/** The init container, as a map. */
export function containerCel(proof: ProofSettings): Cel {
  const when = (condition: Cel, items: Cel[]): Cel => `(${condition} ? ${list(items)} : [])`;
  const has = (...names: string[]): Cel => `variables.checkNames.exists(n, n in ${textList(names)})`;
  const variables = [
    list([map({ name: text(env.checks), value: 'variables.checks' })]),
    when('variables.mode == "warn"', [literal({ name: env.mode, value: 'warn' })]),
    when('variables.checkNames.exists(n, n != "reach")', [fieldRef(env.podIPs, 'status.podIPs')]),
    when(has('roundTrip'), [fieldRef(env.nodeIPs, 'status.hostIPs')]),
    when('variables.hasInterfaces', [
      fieldRef(env.podNamespace, 'metadata.namespace'),
      fieldRef(env.networks, annotation(foreign.networks)),
      literal({ name: env.networkStatusFile, value: `${podInfoMountPath}/${networkStatusPath}` }),
    ]),
  ];
  const mounts = [
    when('variables.hasInterfaces', [
      literal({ name: podInfoVolume, mountPath: podInfoMountPath, readOnly: true }),
    ]),
    `variables.tokens.map(name, ${map({ name: 'name', readOnly: 'true', mountPath: text(tokenPath) })})`,
  ].join(' + ');
  return map({
    name: text(validatorContainer),
    image: 'variables.image',
    args: textList([validateCommand]),
    imagePullPolicy: text(proof.imagePullPolicy),
    env: variables.join(' + '),
    resources: optional(
      'variables.hasResources',
      map({
        requests: optional('size(variables.requests) > 0', 'variables.requests'),
        limits: optional('size(variables.limits) > 0', 'variables.limits'),
      }),
    ),
    securityContext: map({
      allowPrivilegeEscalation: 'false',
      capabilities: literal({ drop: ['ALL'] }),
      readOnlyRootFilesystem: 'true',
      runAsNonRoot: 'true',
      runAsUser: optional(
        'size(variables.asUsers) > 0 || variables.changesUser',
        'size(variables.asUsers) > 0 ? variables.asUsers[0] : variables.free',
      ),
      runAsGroup: optional(
        'size(variables.asUsers) > 0 || variables.changesGroup',
        'size(variables.asGroups) > 0 ? variables.asGroups[0] : size(variables.asUsers) > 0 ? variables.asUsers[0] : variables.free',
      ),
      seccompProfile: literal({ type: 'RuntimeDefault' }),
    }),
    terminationMessagePath: text('/dev/termination-log'),
    terminationMessagePolicy: text('File'),
    volumeMounts: optional(`size(${mounts}) > 0`, mounts),
  });
}

/** The volume with `network-status`. */
export const volumeCel: Cel = literal({
  name: podInfoVolume,
  downwardAPI: {
    items: [
      {
        path: networkStatusPath,
        fieldRef: { apiVersion: 'v1', fieldPath: annotation(foreign.networkStatus) },
      },
    ],
    defaultMode: 0o644,
  },
});
