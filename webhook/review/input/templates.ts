import { dotted } from '../../config/parse.ts';
import type { TemplateKind } from '../../core/profiles/types.ts';
import type { Path } from '../model.ts';
import { type Fields, fieldsOf, valueAt } from '../values.ts';

/** A pod template in an object; if the path is empty, the object itself is the pod. */
export interface FoundTemplate {
  path: Path;
  /** Names the template in messages; absent if the kind has only one template. */
  part?: string;
}

const inSpec = (apiVersion: string, ...kinds: string[]): TemplateKind[] =>
  kinds.map((kind) => ({ apiVersion, kind, path: 'spec.template' }));

/** The kinds of Kubernetes that create pods (https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/). */
export const kubernetesKinds: readonly TemplateKind[] = [
  { apiVersion: 'v1', kind: 'Pod', path: '.' },
  { apiVersion: 'v1', kind: 'PodTemplate', path: 'template' },
  ...inSpec('v1', 'ReplicationController'),
  ...inSpec('apps/v1', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'Deployment'),
  ...inSpec('batch/v1', 'Job'),
  { apiVersion: 'batch/v1', kind: 'CronJob', path: 'spec.jobTemplate.spec.template' },
];

const usualPath = ['spec', 'template'];

/** The API group of an `apiVersion`: `apps` for `apps/v1`, and an empty text for `v1`. */
export const groupOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';

/** Custom resources have a dot in their group: https://kubernetes.io/docs/reference/using-api/#api-groups. */
export const isCustom = (apiVersion: string): boolean => groupOf(apiVersion).includes('.');

/**
 * The pod templates of an object, by the lists of kinds; undefined if its kind is in no list and is no workload. A
 * custom resource of an unlisted kind is a workload if it has `spec.template.spec.containers`.
 */
export function templatesIn(object: Fields, kinds: readonly TemplateKind[]): FoundTemplate[] | undefined {
  const apiVersion = String(object.apiVersion);
  const matches = (entry: TemplateKind): boolean =>
    entry.kind === object.kind &&
    (entry.apiVersion.endsWith('/*')
      ? groupOf(apiVersion) === groupOf(entry.apiVersion)
      : entry.apiVersion === apiVersion);
  const own = kubernetesKinds.find(matches);
  if (own !== undefined) return [{ path: pathOf(own) }];
  const entries = kinds.filter(matches);
  if (entries.length > 0)
    return entries.flatMap((entry) => {
      const isNamed = entries.length > 1 || entry.path.includes('*');
      return pathsOf(object, entry).map((path) => ({
        path,
        ...(isNamed && { part: partOf(path) }),
      }));
    });
  return isCustom(apiVersion) && Array.isArray(valueAt(object, [...usualPath, 'spec', 'containers']))
    ? [{ path: usualPath }]
    : undefined;
}

const pathOf = ({ path }: TemplateKind): string[] => (path === '.' ? [] : path.split('.'));

/** The paths in an object that match the path of its kind. The path `none` is for kinds without templates. */
function pathsOf(object: Fields, entry: TemplateKind): Path[] {
  let found: Path[] = entry.path === 'none' ? [] : [[]];
  for (const part of pathOf(entry)) {
    found = found
      .flatMap((at) => {
        const value = valueAt(object, at);
        const keys =
          part !== '*' ? [part] : Array.isArray(value) ? value.keys() : Object.keys(fieldsOf(value));
        return [...keys].map((key) => [...at, key]);
      })
      .filter((at) => (valueAt(object, at) ?? null) !== null);
  }
  return found;
}

/** A short name of a path, such as `pytorchReplicaSpecs.Worker`, without the outer `spec` and `template`. */
function partOf(path: Path): string {
  const middle = path.slice(path[0] === 'spec' ? 1 : 0, path.at(-1) === 'template' ? -1 : undefined);
  return dotted([...(middle.length > 0 ? middle : path)]);
}
