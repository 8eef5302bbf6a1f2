import { reviewKind } from '../../admission/review.ts';
import type { TemplateKind } from '../../core/profiles/types.ts';
import { CniGateError } from '../../lib/errors.ts';
import { describe, fieldsOf, isObject, valueAt } from '../../lib/json.ts';
import { profileLabel } from '../../lib/names.ts';
import { keyFindings, unknownKind } from '../findings.ts';
import {
  type Fault,
  type Finding,
  type NamespaceObject,
  nameOf,
  type Path,
  type Position,
  type SourceDocument,
  type Unseen,
  type Workload,
} from '../model.ts';
import { lineOf, parsed } from './read.ts';
import {
  groupOf,
  isCustom,
  kubernetesKinds,
  nameIn,
  recordedWorkload,
  templatesIn,
  workloadOf,
  wrong,
} from './workloads.ts';

type Fields = Record<string, unknown>;

/**
 * Sorts the objects of documents: workloads and AdmissionReviews are reviewed, Namespaces provide labels, and all other
 * objects are only counted. The order of Namespaces and workloads does not matter.
 *
 * @param kinds the kinds of custom resources that contain pod templates
 */
export function manifestReader(defaultNamespace: string, kinds: readonly TemplateKind[]) {
  const documents: SourceDocument[] = [];
  const workloads: Workload[] = [];
  const faults: Fault[] = [];
  const findings: Finding[] = [];
  /** Findings for unknown objects that seem to contain pods. `review` drops those in namespaces that did not opt in. */
  const unknownObjects: Finding[] = [];
  /** Custom resources of unknown kinds, whose controllers may create pods. */
  const unseen: Unseen[] = [];
  const namespaces = new Map<string, NamespaceObject>();
  const otherObjects = new Map<string, number>();
  let objects = 0;

  /** Reads an object or a list. An error becomes a fault of the object, and reading continues with the next object. */
  function readObject(value: unknown, { document, path }: Omit<Position, 'line'>): void {
    const items = itemsOf(value);
    if (items !== undefined) {
      const at = Array.isArray(value) ? path : [...path, 'items'];
      for (const [index, item] of items.entries()) readObject(item, { document, path: [...at, index] });
    } else if (value !== null) {
      const line = lineOf(document, path);
      objects += 1;
      try {
        readSingle(value, { document, path, line });
      } catch (error) {
        const known = error instanceof RangeError ? wrong('the object is nested too deeply') : error;
        if (!(known instanceof CniGateError)) throw error;
        faults.push({ code: known.code, message: known.message, file: document.file, line });
      }
    }
  }

  function readSingle(value: unknown, position: Position): void {
    if (!isObject(value)) throw wrong(`expected a Kubernetes object, got ${describe(value)}`);
    const { kind, apiVersion } = value;
    const group = groupOf(String(apiVersion));
    if (typeof kind !== 'string') countOther('no kind');
    else if (kind === 'Namespace' && group === '') readNamespace(value, position);
    else if (kind === reviewKind && group === 'admission.k8s.io') readReview(value, position);
    else if (typeof apiVersion !== 'string' && kubernetesKinds.some((known) => known.kind === kind)) {
      throw wrong(`a ${kind} has no apiVersion`);
    } else readWorkloads(value, position);
  }

  const countOther = (kind: string): void => void otherObjects.set(kind, (otherObjects.get(kind) ?? 0) + 1);

  /** Of several Namespaces with the same name, the last counts, as in a cluster. Their profile labels must be equal. */
  function readNamespace(object: Fields, position: Position): void {
    const { document, path } = position;
    const { name, ...maps } = namespaceMaps(object);
    const before = namespaces.get(name);
    if (before !== undefined && before.labels[profileLabel] !== maps.labels[profileLabel])
      throw wrong(
        `Namespace ${name} has a different label ${profileLabel} in ${before.file}: review each environment separately`,
      );
    const line = lineOf(document, [...path, 'metadata', 'labels', profileLabel]);
    namespaces.set(name, { ...maps, file: document.file, line });
    findings.push(...keyFindings(object, [], { subject: `Namespace ${name}`, namespace: name }, position));
  }

  /** Adds a review about a pod, and counts other reviews. An invalid pod becomes a fault only when it is judged. */
  function readReview(review: Fields, position: Position): void {
    const { kind = 'Pod' } = fieldsOf(fieldsOf(review.request).kind);
    if (kind === 'Pod') workloads.push(recordedWorkload(review, position));
    else countOther(`${reviewKind} of ${kind}`);
  }

  /** Adds a workload for each pod template of an object. */
  function readWorkloads(object: Fields, position: Position): void {
    const names = { kind: String(object.kind), ...nameIn(object, defaultNamespace) };
    const found = templatesIn(object, kinds);
    const templates = found ?? [];
    if (templates.length === 0) countOther(names.kind);
    const unknown = found === undefined ? unknownKind(object, names, position) : undefined;
    if (unknown !== undefined) unknownObjects.push(unknown);
    else if (found === undefined && isCustom(String(object.apiVersion))) {
      const { document, line } = position;
      const { namespace } = fieldsOf(object.metadata);
      unseen.push({ kind: names.kind, namespace, file: document.file, line });
    }
    const made = templates.map((template) => workloadOf(object, template, position, defaultNamespace));
    workloads.push(...made);
    const [first] = made;
    if (first !== undefined && first.podPath.length > 0) {
      const about = { subject: nameOf(names), workload: first };
      const isRead = made.some(({ podPath }) => profileOf(object, podPath) !== undefined);
      findings.push(...keyFindings(object, [], about, position, isRead));
    }
    for (const workload of made) {
      const about = { subject: nameOf(workload), workload };
      findings.push(...keyFindings(object, workload.podPath, about, position));
    }
  }

  const profileOf = (object: Fields, at: Path): unknown =>
    valueAt(object, [...at, 'metadata', 'labels', profileLabel]);

  function take(document: SourceDocument): void {
    documents.push(document);
    if (document.fault !== undefined) faults.push(document.fault);
    else readObject(parsed(document).value, { document, path: [] });
  }

  return {
    ...{ documents, workloads, faults, findings, unknownObjects, unseen, namespaces, otherObjects, take },
    /** The number of objects and faults so far. */
    found: (): number => objects + faults.length,
  };
}

/**
 * The items of an array of objects, of a List, or of a list of one kind such as PodList, whose items may omit kind and
 * apiVersion (https://kubernetes.io/docs/reference/using-api/api-concepts/#collections). Undefined for other values.
 */
function itemsOf(value: unknown): unknown[] | undefined {
  if (Array.isArray(value)) return value.every(isObject) ? value : undefined;
  const { kind, apiVersion, items } = fieldsOf(value);
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) return undefined;
  const itemKind = kind.slice(0, -'List'.length);
  return items.map((item) =>
    itemKind === '' || !isObject(item) || 'kind' in item ? item : { apiVersion, kind: itemKind, ...item },
  );
}

/** The name, labels and annotations of a Namespace object. As in the API server, null is an empty string. */
function namespaceMaps(object: Fields): Pick<NamespaceObject, 'labels' | 'annotations'> & { name: string } {
  const { name, labels, annotations } = fieldsOf(object.metadata);
  if (typeof name !== 'string' || name === '') throw wrong('a Namespace has no metadata.name');
  const strings = (map: unknown): Record<string, string> =>
    Object.fromEntries(
      Object.entries(fieldsOf(map)).map(([key, value]) => {
        if (typeof (value ?? '') === 'string') return [key, String(value ?? '')];
        throw wrong(
          `Namespace ${name}: expected a string in ${key}, got ${describe(value)}; put it in quotes`,
        );
      }),
    );
  return { name, labels: strings(labels), annotations: strings(annotations) };
}
