import { isDeepStrictEqual as same } from 'node:util';
import { isObject } from '../../lib/json.ts';
import { getOwn } from '../../lib/maps.ts';
import { quantity } from '../../lib/quantity.ts';
import type { Container, EnvVar, Pod, Resources, SecurityContext, VolumeMount } from '../facts/pod.ts';
import { mayRunAs, mayRunInGroup, type ProofIds } from './ids.ts';
import { hasPodResources } from './resources.ts';

/** Variables that change what the container runs or proves: ours, and those of the loader, C library and Node.js. */
export const decisiveVariables =
  /^(CNI_GATE_.*|LD_.*|OPENSSL_.*|GCONV_PATH|GLIBC_TUNABLES|LOCPATH|NODE_(CHANNEL_FD|COMPILE_CACHE|ICU_DATA|OPTIONS|PATH|V8_COVERAGE))$/;

/** Paths where the API server's plugins and webhooks mount credentials. The validator reads no credentials. */
const credentials = /^\/var\/run\/secrets(\/(?!\.\.?(\/|$))[^/]+)+\/?$/;

/** Fields to which other components may add. The API server sets `resizePolicy`, which has no effect here. */
export const mayBeAdded = new Set(['env', 'resources', 'securityContext', 'volumeMounts', 'resizePolicy']);

/**
 * Whether the pod's init container still does what is required. Other webhooks may add to it, but not change its
 * command, checks, user or privileges. manifests/base/policy-pods.yaml has the same rules for the final pod.
 */
export function isCurrent(actual: Container, wanted: Container, ids: ProofIds, pod: Pod): boolean {
  const { env: variables, resources, securityContext, volumeMounts, imagePullPolicy, ...rest } = wanted;
  return (
    Object.entries(rest).every(([key, value]) => same(actual[key], value)) &&
    Object.keys(actual).every((key) => Object.hasOwn(wanted, key) || mayBeAdded.has(key)) &&
    [imagePullPolicy, 'Always'].includes(actual.imagePullPolicy) &&
    sameVariables(actual.env ?? [], variables ?? []) &&
    sameMounts(actual.volumeMounts ?? [], volumeMounts ?? []) &&
    // if the pod has pod-level resources, ours do not decide the QoS class, so a LimitRange's values may stay
    (hasPodResources(pod) || sameResources(actual.resources ?? {}, resources ?? {})) &&
    sameRights(actual.securityContext ?? {}, securityContext ?? {}, ids)
  );
}

/** Of variables with the same name, the last one wins, so each of ours must occur once. Other names are allowed. */
const sameVariables = (actual: EnvVar[], wanted: EnvVar[]): boolean =>
  same(
    actual.filter(({ name }) => decisiveVariables.test(name)),
    wanted,
  );

/** Only mounts of credentials may be added: any other mount could replace the program or a file that it reads. */
function sameMounts(actual: VolumeMount[], wanted: VolumeMount[]): boolean {
  const paths = new Set(wanted.map(({ mountPath }) => mountPath));
  return same(
    actual.filter((mount) => paths.has(mount.mountPath) || !credentials.test(mount.mountPath)),
    wanted,
  );
}

/** Compares the resources that decide the QoS class. A LimitRange may have set further resources. */
function sameResources(actual: Resources, wanted: Resources): boolean {
  return (['requests', 'limits'] as const).every((kind) =>
    ['cpu', 'memory'].every((name) => {
      const seen = getOwn(actual[kind], name);
      const expected = getOwn(wanted[kind], name);
      return seen === undefined || expected === undefined
        ? seen === expected
        : quantity(seen) === quantity(expected);
    }),
  );
}

function sameRights(actual: SecurityContext, wanted: SecurityContext, ids: ProofIds): boolean {
  return (
    Object.entries(wanted).every(([key, value]) => same(actual[key], value)) &&
    Object.entries(actual).every(([key, value]) => Object.hasOwn(wanted, key) || mayHave(key, value, ids))
  );
}

function mayHave(key: string, value: unknown, ids: ProofIds): boolean {
  const type = isObject(value) ? value.type : undefined;
  switch (key) {
    case 'runAsUser':
      return typeof value === 'number' && mayRunAs(value, ids);
    case 'runAsGroup':
      return typeof value === 'number' && mayRunInGroup(value, ids);
    case 'seLinuxOptions':
      return type === undefined;
    case 'appArmorProfile':
      return type !== 'Unconfined';
    default:
      return key === 'privileged' && value === false;
  }
}
