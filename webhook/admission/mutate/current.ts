import { isDeepStrictEqual as same } from 'node:util';
import { env } from '../../../validator/shared/contract.ts';
import { own } from '../../lib/maps.ts';
import { podInfoVolume, validatorContainer } from '../../lib/names.ts';
import { quantity } from '../../lib/quantity.ts';
import type { Container, Pod, Resources, SecurityContext, Volume } from '../pod.ts';
import { isObject } from '../review.ts';
import { mayRunAs, mayRunInGroup } from './ids.ts';
import type { ProofRequirements } from './proof-requirements.ts';
import { hasPodResources } from './resources.ts';

const ownVariables = new Set<string>(Object.values(env));

/**
 * Variables of the loader, of the C library and of Node that change what the container runs. The policy over the final
 * pod (manifests/base/policy-pods.yaml) refuses the same.
 */
const loaderVariables =
  /^(LD_.*|OPENSSL_.*|GCONV_PATH|GLIBC_TUNABLES|LOCPATH|NODE_(CHANNEL_FD|COMPILE_CACHE|ICU_DATA|OPTIONS|PATH|V8_COVERAGE))$/;

/**
 * Whether cni-gate, of any version, injected an init container with our name: every version sets a variable of ours.
 * The status annotation is not evidence, because any user can write it.
 */
export function isOurContainer({ name, env: variables }: Container): boolean {
  return name === validatorContainer && (variables ?? []).some((variable) => ownVariables.has(variable.name));
}

/** Whether a volume of a pod with an earlier injection is from it: a downward API volume with our name. */
export const isOurVolume = ({ name, downwardAPI }: Volume): boolean =>
  name === podInfoVolume && isObject(downwardAPI);

/** Fields that others may add. `resizePolicy`, which the API server sets, does not change what the container does. */
const mayBeAdded = new Set(['env', 'resources', 'securityContext', 'volumeMounts', 'resizePolicy']);

/**
 * Whether the pod's container still does what is required. Between two calls, the API server's plugins and other
 * webhooks may add to it: a service account's mount, LimitRange defaults, an image pull policy of Always, ids and
 * labels of OpenShift, environment variables, mounts. A change of the command, its checks, its user or its privileges
 * is not accepted.
 */
export function isCurrent(
  actual: Container,
  wanted: Container,
  requirements: ProofRequirements,
  pod: Pod,
): boolean {
  const { env: variables, resources, securityContext, volumeMounts, imagePullPolicy, ...rest } = wanted;
  return (
    Object.entries(rest).every(([key, value]) => same(actual[key], value)) &&
    Object.keys(actual).every((key) => Object.hasOwn(wanted, key) || mayBeAdded.has(key)) &&
    [imagePullPolicy, 'Always'].includes(actual.imagePullPolicy) &&
    sameVariables(actual.env ?? [], variables ?? []) &&
    sameMounts(actual.volumeMounts ?? [], volumeMounts ?? []) &&
    // if the pod's own resources decide its class, values that a LimitRange set on ours may stay
    (hasPodResources(pod) || sameResources(actual.resources ?? {}, resources ?? {})) &&
    sameRights(actual.securityContext ?? {}, securityContext ?? {}, requirements)
  );
}

/** Of variables with the same name the last one wins, so ours must occur once; other variables are allowed. */
function sameVariables(actual: { name: string }[], wanted: { name: string }[]): boolean {
  const ours = actual.filter(({ name }) => ownVariables.has(name) || loaderVariables.test(name));
  return same(ours, wanted);
}

function sameMounts(actual: { mountPath: string }[], wanted: { mountPath: string }[]): boolean {
  const paths = new Set(wanted.map((mount) => mount.mountPath));
  return same(
    actual.filter((mount) => paths.has(mount.mountPath)),
    wanted,
  );
}

/** The resources that decide the QoS class must be equal; a LimitRange may have set others. */
function sameResources(actual: Resources, wanted: Resources): boolean {
  return (['requests', 'limits'] as const).every((kind) =>
    ['cpu', 'memory'].every((name) => {
      const seen = own(actual[kind], name);
      const expected = own(wanted[kind], name);
      return seen === undefined || expected === undefined
        ? seen === expected
        : quantity(seen) === quantity(expected);
    }),
  );
}

const harmlessRights = new Set(['seLinuxOptions', 'appArmorProfile']);

function sameRights(
  actual: SecurityContext,
  wanted: SecurityContext,
  requirements: ProofRequirements,
): boolean {
  return (
    Object.entries(wanted).every(([key, value]) => same(actual[key], value)) &&
    Object.entries(actual).every(([key, value]) => {
      if (Object.hasOwn(wanted, key) || harmlessRights.has(key)) return true;
      if (key === 'runAsUser') return typeof value === 'number' && mayRunAs(value, requirements);
      if (key === 'runAsGroup') return typeof value === 'number' && mayRunInGroup(value, requirements);
      return key === 'privileged' && value === false;
    })
  );
}
