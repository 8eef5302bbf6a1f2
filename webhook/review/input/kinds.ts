import type { OwnerReference } from '../../admission/pod.ts';
import type { Path } from '../model.ts';

/** How a kind creates pods. */
export interface PodKind {
  /** The version that Kubernetes serves. With another, the name means another kind, or none. */
  apiVersion: string;
  /** The path of the pod, or of the pod template, in the object. */
  podPath: Path;
  /** Whether `podPath` is a template rather than a pod. */
  template: boolean;
  /** The owner of the pods, as their controller writes it; absent if there is none. */
  owner?: (name: string) => OwnerReference;
  /** Whether its controller names containers without a name, as Knative's does. */
  namesContainers?: true;
}

const template = ['spec', 'template'];

const owner =
  (apiVersion: string, kind: string, suffix = '') =>
  (name: string): OwnerReference => ({ apiVersion, kind, name: `${name}${suffix}`, controller: true });

/** The suffix that a Deployment or a CronJob adds to names is unknown before. */
const madeUp = '-0000000000';

/** A kind whose controller owns the pods of its template. */
const controller = (apiVersion: string, kind: string): [string, PodKind] => [
  kind,
  { apiVersion, podPath: template, template: true, owner: owner(apiVersion, kind) },
];

/** A kind whose controller creates another one, which owns the pods. */
const indirect = (apiVersion: string, kind: string, podPath: Path, owned: string): [string, PodKind] => [
  kind,
  { apiVersion, podPath, template: true, owner: owner(apiVersion, owned, madeUp) },
];

/**
 * The kinds whose pods are reviewed
 * (https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/).
 */
export const podKinds: ReadonlyMap<string, PodKind> = new Map<string, PodKind>([
  ['Pod', { apiVersion: 'v1', podPath: [], template: false }],
  ['PodTemplate', { apiVersion: 'v1', podPath: ['template'], template: true }],
  controller('v1', 'ReplicationController'),
  controller('apps/v1', 'ReplicaSet'),
  controller('apps/v1', 'StatefulSet'),
  controller('apps/v1', 'DaemonSet'),
  controller('batch/v1', 'Job'),
  indirect('apps/v1', 'Deployment', template, 'ReplicaSet'),
  indirect('batch/v1', 'CronJob', ['spec', 'jobTemplate', ...template], 'Job'),
]);

/**
 * A kind of another project with its template at a path. It counts as the owner of its pods: no decision depends on an
 * owner in between.
 */
export const customKind = (apiVersion: string, kind: string, podPath: Path): PodKind => ({
  apiVersion,
  podPath,
  template: true,
  owner: owner(apiVersion, kind),
  namesContainers: true,
});

/** The group of an `apiVersion`: `apps` of `apps/v1`, nothing of `v1`. */
export const groupOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
