import { randomUUID } from 'node:crypto';
import type { Operation } from 'fast-json-patch';
import { reviewApiVersion, reviewKind } from '../../admission/review.ts';
import { dotted, pointer } from '../../config/parse.ts';
import type { TemplateKind } from '../../core/profiles/types.ts';
import { CniGateError } from '../../lib/errors.ts';
import { describe, fieldsOf, isObject, valueAt } from '../../lib/json.ts';
import { jobFault } from '../jobs.ts';
import type { Path, Position, Workload } from '../model.ts';

type Fields = Record<string, unknown>;

/** The error for an object that Kubernetes would not accept. */
export const wrong = (message: string): CniGateError => new CniGateError('CNI_GATE_INPUT_SYNTAX', message);

/** A pod template in an object; if the path is empty, the object itself is the pod. */
export interface FoundTemplate {
  path: Path;
  /** Names the template in messages; absent if the kind has only one template. */
  part?: string;
  /** Whether the template belongs to the spec of a Job, which may be part of a CronJob. */
  job?: boolean | undefined;
}

const inSpec = (apiVersion: string, ...kinds: string[]): TemplateKind[] =>
  kinds.map((kind) => ({ apiVersion, kind, path: 'spec.template' }));

/** The kinds of Kubernetes that create pods (https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/). */
export const kubernetesKinds: readonly TemplateKind[] = [
  { apiVersion: 'v1', kind: 'Pod', path: '.' },
  { apiVersion: 'v1', kind: 'PodTemplate', path: 'template' },
  ...inSpec('v1', 'ReplicationController'),
  ...inSpec('apps/v1', 'ReplicaSet', 'StatefulSet', 'DaemonSet', 'Deployment'),
  { apiVersion: 'batch/v1', kind: 'Job', path: 'spec.template', job: true },
  { apiVersion: 'batch/v1', kind: 'CronJob', path: 'spec.jobTemplate.spec.template', job: true },
];

const usualPath = ['spec', 'template'];

/** The API group of an `apiVersion`: `apps` for `apps/v1`, and an empty text for `v1`. */
export const groupOf = (apiVersion: string): string =>
  apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';

/** Custom resources have a dot in their group: https://kubernetes.io/docs/reference/using-api/#api-groups. */
export const isCustom = (apiVersion: string): boolean => groupOf(apiVersion).includes('.');

/**
 * The pod templates of an object; undefined if its kind is neither in `kubernetesKinds` nor in `kinds`. However, a
 * custom resource of another kind has the usual template if it has `spec.template.spec.containers`.
 */
export function templatesIn(object: Fields, kinds: readonly TemplateKind[]): FoundTemplate[] | undefined {
  const apiVersion = String(object.apiVersion);
  const matches = (entry: TemplateKind): boolean =>
    entry.kind === object.kind &&
    (entry.apiVersion.endsWith('/*')
      ? groupOf(apiVersion) === groupOf(entry.apiVersion)
      : entry.apiVersion === apiVersion);
  const own = kubernetesKinds.find(matches);
  if (own !== undefined) return [{ path: pathOf(own), job: own.job }];
  const entries = kinds.filter(matches);
  if (entries.length > 0)
    return entries.flatMap((entry) => {
      const isNamed = entries.length > 1 || entry.path.includes('*');
      return pathsOf(object, entry).map((path) => ({
        path,
        job: entry.job,
        ...(isNamed && { part: dotted(path) }),
      }));
    });
  return isCustom(apiVersion) && Array.isArray(valueAt(object, [...usualPath, 'spec', 'containers']))
    ? [{ path: usualPath }]
    : undefined;
}

const pathOf = ({ path }: TemplateKind): string[] => (path === '.' ? [] : path.split('.'));

/** The paths in an object that match its kind's path, with any key for `*`. `none` means no template. */
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

/** Makes a workload from a manifest. @throws CniGateError if there is no pod template */
export function workloadOf(
  object: Fields,
  { path, part, job }: FoundTemplate,
  position: Position,
  defaultNamespace: string,
): Workload {
  const kind = String(object.kind);
  const apiVersion = String(object.apiVersion);
  const { namespace, name } = nameIn(object, defaultNamespace);
  const isPod = kind === 'Pod' && apiVersion === 'v1';
  const pod = isPod ? object : podOf(object, path, `${kind} ${namespace}/${name}`);
  const text = JSON.stringify(createReview(pod, namespace));
  const fault = job ? jobFault(object, path, position) : undefined;
  return {
    ...position,
    apiVersion,
    kind,
    namespace,
    name,
    ...(part !== undefined && { part }),
    podPath: path,
    ...(fault !== undefined && { jobFault: fault }),
    body: () => JSON.parse(text),
    prelude: isPod ? [] : missingMetadata(object, path),
  };
}

/** Makes a workload from an AdmissionReview about a pod, which is decoded only when the workload is judged. */
export function recordedWorkload(review: Fields, position: Position): Workload {
  const { object, namespace, name } = fieldsOf(review.request);
  const pod = nameIn(fieldsOf(object), '');
  const text = JSON.stringify(review);
  return {
    ...position,
    apiVersion: 'v1',
    kind: 'Pod',
    namespace: String(namespace || pod.namespace),
    name: String(name || pod.name),
    podPath: ['request', 'object'],
    body: () => JSON.parse(text),
    prelude: [],
    recorded: true,
  };
}

/** The namespace and name of an object. An object without a name gets a placeholder, for messages. */
export function nameIn(object: Fields, defaultNamespace: string): { namespace: string; name: string } {
  const metadata = fieldsOf(object.metadata);
  const { namespace: own, name, generateName } = metadata;
  const generated = typeof generateName === 'string' ? `${generateName}*` : '(no name)';
  const namespace = typeof own === 'string' && own !== '' ? own : defaultNamespace;
  return { namespace, name: typeof name === 'string' ? name : generated };
}

/**
 * The pod that the controller would create from a manifest: it copies labels, annotations and finalizers from the
 * template (kubernetes `pkg/controller/controller_utils.go`, GetPodFromTemplate). The object becomes the pod's owner
 * even if a real pod would have another owner, such as a ReplicaSet: no decision depends on the difference.
 */
function podOf(object: Fields, path: Path, who: string): Fields {
  const template = valueAt(object, path);
  const where = path.join('.');
  if (!isObject(template)) {
    throw wrong(`${who}: expected a pod template in ${where}, got ${describe(template)}`);
  }
  const { metadata = {}, spec } = template;
  const { labels, annotations, finalizers } = fieldsOf(metadata);
  const { apiVersion, kind } = object;
  const { name: own } = fieldsOf(object.metadata);
  const name = typeof own === 'string' ? own : '';
  const ownerReferences = [{ apiVersion, kind, name, controller: true }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { generateName: `${name}-`, labels, annotations, finalizers, ownerReferences },
    // Knative allows containers without a name, and its controller names them
    spec: isCustom(String(apiVersion)) ? withNames(spec) : spec,
  };
}

/** The pod spec, in which each container without a name gets one. */
function withNames(spec: unknown): unknown {
  if (!isObject(spec) || !Array.isArray(spec.containers)) return spec;
  const containers = spec.containers.map((container, index) =>
    isObject(container) ? { name: `container-${index}`, ...container } : container,
  );
  return { ...spec, containers };
}

/** The body of the admission call that the API server would send when the pod is created. */
const createReview = (pod: Fields, namespace: string): Fields => ({
  apiVersion: reviewApiVersion,
  kind: reviewKind,
  request: {
    uid: randomUUID(),
    kind: { group: '', version: 'v1', kind: 'Pod' },
    namespace,
    operation: 'CREATE',
    object: pod,
  },
});

/** Adds metadata to a template without metadata, because the patch is made for a pod, which always has metadata. */
function missingMetadata(object: Fields, podPath: Path): Operation[] {
  const path = [...podPath, 'metadata'];
  return isObject(valueAt(object, path)) ? [] : [{ op: 'add', path: pointer(path), value: {} }];
}
