import type { OwnerReference } from '../../admission/pod.ts';
import type { Path } from '../model.ts';

/** How a kind of object comes to pods. */
export interface PodKind {
  /** API groups that have, or had, this kind; the core group is empty. Other groups mean other things by it. */
  groups: string[];
  /** Where the pod, or the template of its pods, stands in the object. */
  podPath: Path;
  /** Whether `podPath` is a template, and not a pod. */
  template: boolean;
  /** The object that will own the pods, as their controller writes it; none where nobody does. */
  owner?: (name: string) => OwnerReference;
  /** Whether its controller names containers that have no name in the template, as Knative's does. */
  namesContainers?: true;
}

const template = ['spec', 'template'];
const workloads = ['apps', 'extensions'];

const owner =
  (apiVersion: string, kind: string, suffix = '') =>
  (name: string): OwnerReference => ({ apiVersion, kind, name: `${name}${suffix}`, controller: true });

/** What a Deployment and a CronJob put behind the names of what they make is not known before they do. */
const madeUp = '-0000000000';

/**
 * The kinds whose pods are reviewed
 * (https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/). A Deployment's pods belong to its
 * ReplicaSet, a CronJob's to its Job.
 */
export const podKinds: ReadonlyMap<string, PodKind> = new Map<string, PodKind>([
  ['Pod', { groups: [''], podPath: [], template: false }],
  ['PodTemplate', { groups: [''], podPath: ['template'], template: true }],
  [
    'ReplicationController',
    { groups: [''], podPath: template, template: true, owner: owner('v1', 'ReplicationController') },
  ],
  [
    'ReplicaSet',
    { groups: workloads, podPath: template, template: true, owner: owner('apps/v1', 'ReplicaSet') },
  ],
  [
    'Deployment',
    { groups: workloads, podPath: template, template: true, owner: owner('apps/v1', 'ReplicaSet', madeUp) },
  ],
  [
    'StatefulSet',
    { groups: workloads, podPath: template, template: true, owner: owner('apps/v1', 'StatefulSet') },
  ],
  [
    'DaemonSet',
    { groups: workloads, podPath: template, template: true, owner: owner('apps/v1', 'DaemonSet') },
  ],
  ['Job', { groups: ['batch'], podPath: template, template: true, owner: owner('batch/v1', 'Job') }],
  [
    'CronJob',
    {
      groups: ['batch'],
      podPath: ['spec', 'jobTemplate', ...template],
      template: true,
      owner: owner('batch/v1', 'Job', madeUp),
    },
  ],
]);

/**
 * A kind of another project with its template at a path. Its pods are taken to be its own: nothing that admission
 * decides depends on an owner in between.
 */
export const customKind = (apiVersion: string, kind: string, podPath: Path): PodKind => ({
  groups: [groupOf(apiVersion)],
  podPath,
  template: true,
  owner: owner(apiVersion, kind),
  namesContainers: true,
});

/** The group of an `apiVersion`: `apps` of `apps/v1`, nothing of `v1`. */
export const groupOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
