import { env, validateCommand } from '../../../validator/shared/contract.ts';
import {
  foreign,
  networkStatusPath,
  podInfoMountPath,
  podInfoVolume,
  validatorContainer,
} from '../../lib/names.ts';
import type { ProofSettings } from '../profiles/types.ts';
import { type Cel, head, ifAny, list, literal, map, text, textList } from './cel.ts';
import { resourceVariables } from './resources.ts';

/* The CEL counterpart of proof/container.ts: the init container of a pod, from the variables of policy.ts. */

/** Where the ServiceAccount admission plugin mounts the token: see `tokenMount` in facts/pod.ts. */
const tokenPath = '/var/run/secrets/kubernetes.io/serviceaccount';
const hasToken = `variables.others.all(c, c.?volumeMounts.orValue([]).exists(m, m.mountPath == ${text(tokenPath)}))`;
const tokens =
  `object.spec.?automountServiceAccountToken.orValue(true) && ${hasToken} ? ` +
  `${head(['variables.volumes.filter(v, v.name.startsWith("kube-api-access-")).map(v, v.name)'])} : []`;

const fieldRef = (name: string, fieldPath: string): Cel =>
  literal({ name, valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } } });
const annotation = (key: string): string => `metadata.annotations['${key}']`;

/** Concatenates lists, each included only if its condition holds. The items may have different types. */
const parts = (...all: [condition: Cel, items: Cel[]][]): Cel =>
  all
    .map(([condition, items]) => `(${condition} ? ${list(items.map((item) => `dyn(${item})`))} : [])`)
    .join(' + ');

const hasCheck = (name: string): Cel => `${text(name)} in variables.checkNames`;

const environment = parts(
  ['true', [map({ name: text(env.checks), value: 'variables.checks' })]],
  ['variables.mode == "warn"', [literal({ name: env.mode, value: 'warn' })]],
  ['variables.checkNames.exists(n, n != "reach")', [fieldRef(env.podIPs, 'status.podIPs')]],
  [hasCheck('roundTrip'), [fieldRef(env.nodeIPs, 'status.hostIPs')]],
  [
    'variables.hasInterfaces',
    [
      fieldRef(env.podNamespace, 'metadata.namespace'),
      fieldRef(env.networks, annotation(foreign.networks)),
      literal({ name: env.networkStatusFile, value: `${podInfoMountPath}/${networkStatusPath}` }),
    ],
  ],
);

const podInfoMount = literal({ name: podInfoVolume, mountPath: podInfoMountPath, readOnly: true });
const tokenMount = map({ name: 'name', readOnly: 'true', mountPath: text(tokenPath) });

/** The variables for the init container; `wanted` is the container itself, as a map. */
export const containerVariables = (proof: ProofSettings): Record<string, Cel> => ({
  ...resourceVariables(proof.resources),
  tokens,
  environment,
  mounts: `${parts(['variables.hasInterfaces', [podInfoMount]])} + variables.tokens.map(name, dyn(${tokenMount}))`,
  wanted: map({
    name: text(validatorContainer),
    image: 'variables.image',
    args: textList([validateCommand]),
    imagePullPolicy: text(proof.imagePullPolicy),
    env: 'variables.environment',
    resources: 'variables.resources',
    securityContext: map({
      allowPrivilegeEscalation: 'false',
      capabilities: literal({ drop: ['ALL'] }),
      readOnlyRootFilesystem: 'true',
      runAsNonRoot: 'true',
      runAsUser: ifAny('runAsUser', 'variables.runAsUser[0]'),
      runAsGroup: ifAny('runAsGroup', 'variables.runAsGroup[0]'),
      seccompProfile: literal({ type: 'RuntimeDefault' }),
    }),
    terminationMessagePath: text('/dev/termination-log'),
    terminationMessagePolicy: text('File'),
    volumeMounts: ifAny('mounts'),
  }),
});

/** The volume from which the init container reads the annotation network-status. */
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
