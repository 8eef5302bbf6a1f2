import { env, validateCommand } from '../../../validator/shared/contract.ts';
import { validatorContainer } from '../../lib/names.ts';
import { tokenPath, tokenVolumePrefix } from '../facts/pod.ts';
import type { ProofSettings } from '../profiles/types.ts';
import { field, interfacesVariables, podInfoMount } from '../proof/container.ts';
import { type Cel, head, ifAny, list, literal, map, text, textList } from './cel.ts';
import { resourceVariables } from './resources.ts';

/* The CEL counterpart of proof/container.ts: the init container of a pod, from the variables of policy.ts. */

// the counterpart of `tokenMount` in facts/pod.ts
const hasToken = `variables.others.all(c, c.?volumeMounts.orValue([]).exists(m, m.mountPath == ${text(tokenPath)}))`;
const tokens =
  `object.spec.?automountServiceAccountToken.orValue(true) && ${hasToken} ? ` +
  `${head([`variables.volumes.filter(v, v.name.startsWith(${text(tokenVolumePrefix)})).map(v, v.name)`])} : []`;

/** Concatenates lists, each included only if its condition holds. The items may have different types. */
const parts = (...all: [condition: Cel, items: Cel[]][]): Cel =>
  all
    .map(([condition, items]) => `(${condition} ? ${list(items.map((item) => `dyn(${item})`))} : [])`)
    .join(' + ');

const hasCheck = (name: string): Cel => `${text(name)} in variables.checkNames`;

const environment = parts(
  ['true', [map({ name: text(env.checks), value: 'variables.checks' })]],
  ['variables.mode == "warn"', [literal({ name: env.mode, value: 'warn' })]],
  ['variables.checkNames.exists(n, n != "reach")', [literal(field(env.podIPs, 'status.podIPs'))]],
  [hasCheck('roundTrip'), [literal(field(env.nodeIPs, 'status.hostIPs'))]],
  ['variables.hasInterfaces', interfacesVariables().map(literal)],
);

const tokenMount = map({ name: 'name', readOnly: 'true', mountPath: text(tokenPath) });

/** The variables for the init container; `wanted` is the container itself, as a map. */
export const containerVariables = (proof: ProofSettings): Record<string, Cel> => ({
  ...resourceVariables(proof.resources),
  tokens,
  environment,
  mounts: `${parts(['variables.hasInterfaces', [literal(podInfoMount())]])} + variables.tokens.map(name, dyn(${tokenMount}))`,
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
