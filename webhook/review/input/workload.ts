import { randomUUID } from 'node:crypto';
import type { Operation } from 'fast-json-patch';
import { reviewApiVersion, reviewKind } from '../../admission/review.ts';
import { CniGateError } from '../../lib/errors.ts';
import { isObject } from '../../lib/json.ts';
import type { Path, Position, Workload } from '../model.ts';
import { describe, type Fields, fieldsOf, pointer, valueAt, wrong } from '../values.ts';
import { inMebi, largestObject } from './documents.ts';
import { type FoundTemplate, isCustom } from './templates.ts';

/** Makes a workload from a manifest. @throws CniGateError if there is no pod template, or the object is too large */
export function workloadOf(
  object: Fields,
  { path, part }: FoundTemplate,
  position: Position,
  defaultNamespace: string,
): Workload {
  const kind = String(object.kind);
  const apiVersion = String(object.apiVersion);
  const { namespace, name } = nameIn(object, defaultNamespace);
  const isPod = kind === 'Pod' && apiVersion === 'v1';
  const pod = isPod
    ? podIn(object, namespace)
    : podOf(object, path, namespace, `${kind} ${namespace}/${name}`);
  return {
    ...position,
    apiVersion,
    kind,
    namespace,
    name,
    ...(part !== undefined && { part }),
    podPath: path,
    body: keptAsText(createReview(pod, namespace)),
    prelude: isPod ? [] : missingMetadata(object, path),
  };
}

/** Makes a workload from an AdmissionReview about a pod, which is decoded only when the workload is judged. */
export function recordedWorkload(review: Fields, position: Position): Workload {
  const { object, namespace, name } = fieldsOf(review.request);
  const pod = nameIn(fieldsOf(object), '');
  return {
    ...position,
    apiVersion: 'v1',
    kind: 'Pod',
    namespace: String(namespace || pod.namespace),
    name: String(name || pod.name),
    podPath: ['request', 'object'],
    body: keptAsText(review),
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

/** The pod with its namespace. Metadata that is not an object stays as it is, so that admission rejects the pod. */
const podIn = (pod: Fields, namespace: string): Fields =>
  isObject(pod.metadata) ? { ...pod, metadata: { ...pod.metadata, namespace } } : pod;

/**
 * The pod that the controller would create from a manifest: it copies labels, annotations and finalizers from the
 * template (kubernetes `pkg/controller/controller_utils.go`, GetPodFromTemplate). The object becomes the pod's owner
 * even if a real pod would have another owner, such as a ReplicaSet: no decision depends on the difference.
 */
function podOf(object: Fields, path: Path, namespace: string, who: string): Fields {
  const template = valueAt(object, path);
  const where = path.join('.');
  if (!isObject(template)) {
    throw wrong(`${who}: expected a pod template in ${where}, got ${describe(template)}`);
  }
  const { metadata, spec } = template;
  if (metadata !== null && metadata !== undefined && !isObject(metadata)) {
    throw wrong(`${who}: expected an object in ${where}.metadata, got ${describe(metadata)}`);
  }
  const { labels, annotations, finalizers } = fieldsOf(metadata);
  const { apiVersion, kind } = object;
  const { name: own } = fieldsOf(object.metadata);
  const name = typeof own === 'string' ? own : '';
  const ownerReferences = [{ apiVersion, kind, name, controller: true }];
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { generateName: `${name}-`, namespace, labels, annotations, finalizers, ownerReferences },
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

/** The body of the call with which the API server would ask admission about the creation of a pod. */
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

function keptAsText(value: unknown): () => unknown {
  const text = JSON.stringify(value);
  if (text.length > largestObject) {
    const message = `the object has ${inMebi(text.length)}; review accepts ${inMebi(largestObject)}`;
    throw new CniGateError('CNI_GATE_INPUT_TOO_LARGE', message);
  }
  return () => JSON.parse(text);
}

/** Adds metadata to a template without metadata, because the patch is made for a pod, which always has metadata. */
function missingMetadata(object: Fields, podPath: Path): Operation[] {
  const path = [...podPath, 'metadata'];
  return isObject(valueAt(object, path)) ? [] : [{ op: 'add', path: pointer(path), value: {} }];
}
