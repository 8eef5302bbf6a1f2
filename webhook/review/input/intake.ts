import type { Operation } from 'fast-json-patch';
import { reviewKind } from '../../admission/review.ts';
import { CniGateError, messageOf } from '../../errors.ts';
import { podOf } from '../ask/pod.ts';
import { pointer } from '../ask/pointer.ts';
import { asDryRun, createReview } from '../ask/request.ts';
import { type Fault, faultAt, type Path, type SourceDocument, type Workload } from '../model.ts';
import { describe, type Fields, fieldsOf, isObject, valueAt } from '../values.ts';
import type { ReadDocument } from './documents.ts';
import { itemsOf } from './items.ts';
import { groupOf, podKinds } from './kinds.ts';
import { namespaceLabels } from './namespace.ts';

/**
 * Sorts the objects of documents: workloads and AdmissionReviews to be reviewed, Namespaces for their labels, and
 * the rest, which is counted. Namespaces may stand behind the workloads in them, so all is read before anything
 * is decided.
 */
export class Intake {
  readonly documents: SourceDocument[] = [];
  readonly workloads: Workload[] = [];
  readonly faults: Fault[] = [];
  readonly namespaces = new Map<string, Record<string, string>>();
  /** Annotations by namespace. */
  readonly namespaceAnnotations = new Map<string, Record<string, string>>();
  readonly passedBy = new Map<string, number>();
  readonly #defaultNamespace: string;

  /** @param defaultNamespace of objects that name none */
  constructor(defaultNamespace: string) {
    this.#defaultNamespace = defaultNamespace;
  }

  /** Takes a document; one without `lineOf` is blank or was unreadable, and is kept for its text alone. */
  take(read: ReadDocument | SourceDocument): void {
    if (!('lineOf' in read)) {
      this.documents.push(read);
      return;
    }
    const { lineOf, ...rest } = read;
    const document: SourceDocument = { ...rest, list: itemsOf(rest.value) !== undefined };
    const before = this.workloads.length;
    this.#object(document.value, [], document, lineOf);
    if (this.workloads.length === before) document.value = undefined;
    this.documents.push(document);
  }

  passBy(kind: string): void {
    this.passedBy.set(kind, (this.passedBy.get(kind) ?? 0) + 1);
  }

  #object(value: unknown, path: Path, document: SourceDocument, lineOf: ReadDocument['lineOf']): void {
    const line = lineOf(path);
    const items = itemsOf(value);
    try {
      if (items !== undefined) {
        for (const [index, item] of items.list.entries()) {
          this.#object(items.complete(item), [...path, ...items.path, index], document, lineOf);
        }
      } else if (value !== null) {
        this.#single(value, path, document, line);
      }
    } catch (error) {
      if (!(error instanceof CniGateError || error instanceof RangeError)) throw error;
      const deep = error instanceof RangeError;
      const code = deep ? 'CNI_GATE_INPUT_SYNTAX' : error.code;
      const message = deep ? 'the object is nested too deeply or too large' : messageOf(error);
      this.faults.push(faultAt({ file: document.file, line }, code, message));
    }
  }

  #single(value: unknown, path: Path, document: SourceDocument, line: number): void {
    if (!isObject(value)) {
      throw new CniGateError('CNI_GATE_INPUT_SYNTAX', `expected a Kubernetes object, got ${describe(value)}`);
    }
    const { kind, apiVersion } = value;
    if (typeof kind !== 'string') {
      this.passBy('no kind');
      return;
    }
    const known = podKinds.get(kind);
    if (known !== undefined && typeof apiVersion !== 'string') {
      throw new CniGateError('CNI_GATE_INPUT_SYNTAX', `a ${kind} has no apiVersion`);
    }
    const group = groupOf(String(apiVersion));
    if (kind === reviewKind && group === 'admission.k8s.io') {
      this.workloads.push({ ...this.#given(value), document, path, line });
    } else if (known?.groups.includes(group)) {
      this.workloads.push({ ...this.#made(value, kind), document, path, line });
    } else if (kind === 'Namespace' && group === '') {
      const { name, labels, annotations } = namespaceLabels(value);
      this.namespaces.set(name, labels);
      this.namespaceAnnotations.set(name, annotations);
    } else {
      this.passBy(kind);
    }
  }

  #given(review: Fields): Omit<Workload, 'document' | 'path' | 'line'> {
    const request = fieldsOf(review.request);
    const pod = fieldsOf(request.object);
    const metadata = fieldsOf(pod.metadata);
    return {
      apiVersion: 'v1',
      kind: 'Pod',
      namespace: String(request.namespace ?? metadata.namespace ?? ''),
      name: String(request.name || nameOf(metadata)),
      podPath: ['request', 'object'],
      body: asDryRun(review),
      given: true,
      prelude: [],
    };
  }

  #made(object: Fields, kind: string): Omit<Workload, 'document' | 'path' | 'line'> {
    const podKind = podKinds.get(kind);
    if (podKind === undefined) throw new TypeError(kind);
    const metadata = fieldsOf(object.metadata);
    const { namespace: own } = metadata;
    const namespace = typeof own === 'string' && own !== '' ? own : this.#defaultNamespace;
    const name = nameOf(metadata);
    const pod = podOf(podKind, object, namespace, `${kind} ${namespace}/${name}`);
    return {
      apiVersion: String(object.apiVersion),
      kind,
      namespace,
      name,
      podPath: podKind.podPath,
      body: createReview(pod, namespace),
      given: false,
      prelude: podKind.template ? missingMetadata(object, podKind.podPath) : [],
    };
  }
}

/** The name, or the generateName with a `*` behind, for people. */
function nameOf({ name, generateName }: Fields): string {
  if (typeof name === 'string') return name;
  return typeof generateName === 'string' ? `${generateName}*` : '(no name)';
}

/** A pod always has metadata, a template need not. */
function missingMetadata(object: Fields, podPath: Path): Operation[] {
  const path = [...podPath, 'metadata'];
  return isObject(valueAt(object, path)) ? [] : [{ op: 'add', path: pointer(path), value: {} }];
}
