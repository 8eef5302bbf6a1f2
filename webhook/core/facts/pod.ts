import { validatorContainer } from '../../lib/names.ts';

/**
 * The parts of a Kubernetes v1 Pod that admission reads. All other fields are left as they are. `null` means absent, as
 * in manifests.
 */

/** A variable in the environment of a container. */
export interface EnvVar {
  name: string;
  value?: string;
  valueFrom?: unknown;
}
/** A volume mounted in a container. */
export interface VolumeMount {
  name: string;
  mountPath: string;
  readOnly?: boolean;
}

/** Amounts by resource, as Kubernetes writes them: `500m`, `64Mi` or a number. */
export type Quantities = Record<string, string | number>;

/** The requests and limits of a container or a pod. */
export interface Resources {
  requests?: Quantities | null;
  limits?: Quantities | null;
}

export interface SecurityContext {
  runAsUser?: number | null;
  runAsGroup?: number | null;
  [key: string]: unknown;
}
/** A container or an init container. */
export interface Container {
  name: string;
  image?: string;
  imagePullPolicy?: string;
  args?: string[] | null;
  restartPolicy?: string | null;
  env?: EnvVar[] | null;
  resources?: Resources | null;
  securityContext?: SecurityContext | null;
  volumeMounts?: VolumeMount[] | null;
  [key: string]: unknown;
}

export interface Volume {
  name: string;
  [key: string]: unknown;
}

export interface PodSpec {
  containers: Container[];
  initContainers?: Container[] | null;
  volumes?: Volume[] | null;
  imagePullSecrets?: ({ name?: string } | null)[] | null;
  hostNetwork?: boolean | null;
  nodeSelector?: Record<string, string> | null;
  os?: { name?: string } | null;
  resources?: Resources | null;
  securityContext?: SecurityContext | null;
  [key: string]: unknown;
}

export interface ObjectMeta {
  name?: string;
  generateName?: string;
  namespace?: string;
  labels?: Record<string, string> | null;
  deletionTimestamp?: string | null;
  annotations?: Record<string, string> | null;
  ownerReferences?: { name: string; kind: string; controller?: boolean | null }[] | null;
  [key: string]: unknown;
}

export interface Pod {
  metadata: ObjectMeta;
  spec: PodSpec;
  [key: string]: unknown;
}

/** The literal value of an environment variable, if any. Of several with the same name, Kubernetes uses the last. */
export function variableOf({ env }: Pick<Container, 'env'>, name: string): string | undefined {
  const value: unknown = env?.findLast((variable) => variable.name === name)?.value;
  return typeof value === 'string' ? value : undefined;
}

/** Whether cni-gate injected the container (by name and variables: the status annotation proves nothing). */
export const isOurContainer = ({ name, env }: Pick<Container, 'name' | 'env'>): boolean =>
  name === validatorContainer && (env ?? []).some((variable) => variable.name.startsWith('CNI_GATE_'));

/** All containers except the injected one, init containers first. */
export const containersBesides = (pod: Pod): Container[] =>
  allContainers(pod).filter(({ name }) => name !== validatorContainer);

/** Where the service account's token is mounted. */
export const tokenPath = '/var/run/secrets/kubernetes.io/serviceaccount';
/** The prefix of the name of the token's volume. */
export const tokenVolumePrefix = 'kube-api-access-';

/**
 * The mount of the service account's token that the API server's ServiceAccount plugin would add to an init container;
 * undefined if it would add none, or if that is not known. If our webhook did not add the mount, the plugin would do so
 * later, and this change would make the API server call the webhooks a second time. Source: Kubernetes
 * `plugin/pkg/admission/serviceaccount/admission.go`, `mountServiceAccountToken`
 */
export function tokenMount(pod: Pod): VolumeMount | undefined {
  const { volumes, automountServiceAccountToken } = pod.spec;
  const volume = volumes?.find(({ name }) => name.startsWith(tokenVolumePrefix));
  if (volume === undefined || automountServiceAccountToken === false) return undefined;
  const isActive = containersBesides(pod).every(({ volumeMounts }) =>
    volumeMounts?.some((mount) => mount.mountPath === tokenPath),
  );
  return isActive ? { name: volume.name, readOnly: true, mountPath: tokenPath } : undefined;
}

export function allContainers(pod: Pod): Container[] {
  // in a pod without containers, which the API server rejects later, `containers` is null
  return [...(pod.spec.initContainers ?? []), ...(pod.spec.containers ?? [])];
}
