import type { Operation } from 'fast-json-patch';
import { asDryRun, createReview, podOf } from '../ask/pod.ts';
import { jobFault, volcanoFault } from '../findings/jobs.ts';
import type { Path, Workload } from '../model.ts';
import { type Fields, fieldsOf, isObject, pointer, valueAt } from '../values.ts';
import { groupOf, type PodKind } from './kinds.ts';
import { inMebi, largestObject, tooLarge } from './limits.ts';

/** Where an object of the input is. */
export type Position = Pick<Workload, 'document' | 'path' | 'line'>;

/**
 * A workload from a manifest.
 *
 * @param defaultNamespace the namespace of an object that names none
 * @throws CniGateError CNI_GATE_INPUT_SYNTAX if it has no pod template, CNI_GATE_INPUT_TOO_LARGE
 */
export function workloadOf(
  object: Fields,
  podKind: PodKind,
  position: Position,
  defaultNamespace: string,
): Workload {
  const kind = String(object.kind);
  const { namespace, name } = nameIn(object, defaultNamespace);
  const pod = podOf(podKind, object, namespace, `${kind} ${namespace}/${name}`);
  return {
    ...position,
    apiVersion: String(object.apiVersion),
    kind,
    namespace,
    name,
    podPath: podKind.podPath,
    body: keptAsText(createReview(pod, namespace)),
    given: false,
    prelude: podKind.template ? missingMetadata(object, podKind.podPath) : [],
  };
}

/** A workload from an AdmissionReview. */
export function givenWorkload(review: Fields, position: Position): Workload {
  const request = fieldsOf(review.request);
  const metadata = fieldsOf(fieldsOf(request.object).metadata);
  return {
    ...position,
    apiVersion: 'v1',
    kind: 'Pod',
    namespace: String(request.namespace ?? metadata.namespace ?? ''),
    name: String(request.name || ownName(metadata)),
    podPath: ['request', 'object'],
    body: keptAsText(asDryRun(review)),
    given: true,
    prelude: [],
  };
}

/** Why the Job at the end of a path may fail for its network although repair runs; undefined where it does not. */
export function jobFaultOf(object: Fields, podPath: Path, isJob: boolean): string | undefined {
  if (isJob) return jobFault(object, podPath);
  return groupOf(String(object.apiVersion)) === 'batch.volcano.sh'
    ? volcanoFault(object, podPath)
    : undefined;
}

/** The name and namespace of an object, for messages also of one without a name. */
export function nameIn(object: Fields, defaultNamespace: string): { namespace: string; name: string } {
  const metadata = fieldsOf(object.metadata);
  const { namespace: own } = metadata;
  const namespace = typeof own === 'string' && own !== '' ? own : defaultNamespace;
  return { namespace, name: ownName(metadata) };
}

/** The name, or the generateName followed by `*`. */
function ownName({ name, generateName }: Fields): string {
  if (typeof name === 'string') return name;
  return typeof generateName === 'string' ? `${generateName}*` : '(no name)';
}

/** A value as JSON text, as it would be sent. */
function keptAsText(value: unknown): () => unknown {
  const text = JSON.stringify(value);
  if (text.length > largestObject) {
    throw tooLarge(`the object has ${inMebi(text.length)}; review accepts ${inMebi(largestObject)}`);
  }
  return () => JSON.parse(text);
}

/** A pod always has metadata, a template need not. */
function missingMetadata(object: Fields, podPath: Path): Operation[] {
  const path = [...podPath, 'metadata'];
  return isObject(valueAt(object, path)) ? [] : [{ op: 'add', path: pointer(path), value: {} }];
}
