import { randomUUID } from 'node:crypto';
import type { Operation } from 'fast-json-patch';
import { reviewApiVersion, reviewKind } from '../../admission/review.ts';
import { CniGateError } from '../../lib/errors.ts';
import { isObject } from '../../lib/json.ts';
import { jobFault } from '../findings/jobs.ts';
import type { Path, Position, Workload } from '../model.ts';
import { describe, type Fields, fieldsOf, pointer, valueAt } from '../values.ts';
import { inMebi, largestObject } from './documents.ts';
import { type FoundTemplate, isCustom } from './templates.ts';

/** A workload from a manifest. @throws CniGateError CNI_GATE_INPUT_SYNTAX if it has no pod template, CNI_GATE_INPUT_TOO_LARGE */
export function workloadOf(
  object: Fields,
  { path, part, job = false }: FoundTemplate,
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
    body: keptAsText(createReview(pod, namespace)),
    prelude: isPod ? [] : missingMetadata(object, path),
  };
}

/** A workload from an AdmissionReview about a pod, which `/mutate` decodes. */
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

/** The name and namespace of an object, for messages also of one without a name. */
export function nameIn(object: Fields, defaultNamespace: string): { namespace: string; name: string } {
  const metadata = fieldsOf(object.metadata);
  const { namespace: own, name, generateName } = metadata;
  const generated = typeof generateName === 'string' ? `${generateName}*` : '(no name)';
  const namespace = typeof own === 'string' && own !== '' ? own : defaultNamespace;
  return { namespace, name: typeof name === 'string' ? name : generated };
}

/** A pod in its namespace. Admission judges metadata that is not an object. */
const podIn = (pod: Fields, namespace: string): Fields =>
  isObject(pod.metadata) ? { ...pod, metadata: { ...pod.metadata, namespace } } : pod;

/**
 * The pod that would be created for a manifest. Its controller uses labels, annotations and finalizers of the template
 * (kubernetes `pkg/controller/controller_utils.go`, GetPodFromTemplate). No decision depends on an owner in between,
 * such as a ReplicaSet, so the object counts as the owner.
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
    // Knative's controller names containers that have no name
    spec: isCustom(String(apiVersion)) ? withNames(spec) : spec,
  };
}

/** The pod spec with a name for each container that has none. */
function withNames(spec: unknown): unknown {
  if (!isObject(spec) || !Array.isArray(spec.containers)) return spec;
  const containers = spec.containers.map((container, index) =>
    isObject(container) ? { name: `container-${index}`, ...container } : container,
  );
  return { ...spec, containers };
}

const wrong = (message: string): CniGateError => new CniGateError('CNI_GATE_INPUT_SYNTAX', message);

/** The body of the API server's admission call for the creation of a pod. */
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

/** A pod always has metadata, a template need not. */
function missingMetadata(object: Fields, podPath: Path): Operation[] {
  const path = [...podPath, 'metadata'];
  return isObject(valueAt(object, path)) ? [] : [{ op: 'add', path: pointer(path), value: {} }];
}
