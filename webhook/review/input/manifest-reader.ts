import type { Operation } from 'fast-json-patch';
import { reviewKind } from '../../admission/review.ts';
import type { TemplateKind } from '../../config/types.ts';
import { CniGateError, messageOf } from '../../lib/errors.ts';
import { profileLabel } from '../../lib/names.ts';
import { podOf } from '../ask/pod.ts';
import { pointer } from '../ask/pointer.ts';
import { asDryRun, createReview } from '../ask/request.ts';
import { jobFault, volcanoFault } from '../findings/jobs.ts';
import { namespaceKeys, workloadKeys } from '../findings/keys.ts';
import { unknownKind } from '../findings/kinds.ts';
import {
  type Fault,
  type Finding,
  faultAt,
  type Path,
  type SourceDocument,
  type Workload,
} from '../model.ts';
import { describe, type Fields, fieldsOf, isObject, valueAt } from '../values.ts';
import type { ReadDocument } from './documents.ts';
import { itemsOf } from './items.ts';
import { customKind, groupOf, type PodKind, podKinds } from './kinds.ts';
import { mostObjects, tooLarge } from './limits.ts';
import { type NamespaceObject, namespaceLabels } from './namespace.ts';
import { type FoundTemplates, templatesIn } from './templates.ts';

/**
 * Sorts the objects of documents: workloads and AdmissionReviews to review, Namespaces for their labels, and the rest,
 * which it counts. Namespaces may come after their workloads, so everything is read before any decision.
 */
export class ManifestReader {
  readonly documents: SourceDocument[] = [];
  readonly workloads: Workload[] = [];
  readonly faults: Fault[] = [];
  readonly findings: Finding[] = [];
  /** Of Jobs and CronJobs that would be findings if their pods get a check. */
  readonly jobFaults = new Map<Workload, string>();
  readonly namespaces = new Map<string, NamespaceObject>();
  readonly otherObjects = new Map<string, number>();
  readonly #defaultNamespace: string;
  readonly #kinds: readonly TemplateKind[];
  readonly #references: Reference[] = [];
  readonly #max = mostObjects();
  #counted = 0;

  /**
   * @param defaultNamespace the namespace of objects that name none
   * @param kinds kinds of other projects that contain pod templates
   */
  constructor(defaultNamespace: string, kinds: readonly TemplateKind[]) {
    this.#defaultNamespace = defaultNamespace;
    this.#kinds = kinds;
  }

  /** Adds a document; one without `lineOf` is blank or unreadable, and only its text is kept. */
  take(read: ReadDocument | SourceDocument): void {
    this.#counted += 1;
    if (this.full) {
      this.faults.push(
        faultAt({ file: read.file, line: read.start }, 'CNI_GATE_INPUT_TOO_LARGE', this.#tooMany),
      );
      return;
    }
    if (!('lineOf' in read)) {
      this.documents.push(read);
      return;
    }
    const { file, start, line, text, json, continues, value, isItem } = read;
    const list = isItem || itemsOf(value) !== undefined;
    const document: SourceDocument = { file, start, line, text, json, list, continues, reviewed: false };
    const before = this.workloads.length;
    const fault = this.#repeated(read);
    if (fault === undefined) this.#object(value, [], document, read);
    else this.faults.push(fault);
    document.reviewed = this.workloads.length > before;
    this.documents.push(document);
  }

  /** A key that occurs twice in a reviewed object. In others, it is left to the API server. */
  #repeated({ file, repeated }: ReadDocument): Fault | undefined {
    if (!repeated?.kinds.some((kind) => this.#isReviewed(kind))) return undefined;
    const { key, line, column } = repeated;
    const message = `the key "${key}" occurs twice: is a "---" missing before it?`;
    return faultAt({ file, line, column }, 'CNI_GATE_INPUT_SYNTAX', message);
  }

  /** Whether there were too many documents and objects, which was reported. */
  get full(): boolean {
    return this.#counted > this.#max;
  }

  get #tooMany(): string {
    return `more than ${this.#max} documents and objects, which depends on Node's memory: review fewer at a time`;
  }

  #isReviewed(kind: string): boolean {
    return (
      podKinds.has(kind) ||
      kind === 'Namespace' ||
      kind === reviewKind ||
      this.#kinds.some((listed) => listed.kind === kind)
    );
  }

  countOther(kind: string): void {
    this.otherObjects.set(kind, (this.otherObjects.get(kind) ?? 0) + 1);
  }

  /**
   * Objects whose template is in an object that is not in the input, or that are of an unknown kind. Call it when everything was read, because the
   * other object may come later.
   *
   * @param matters whether a namespace has checks
   */
  missingTemplates(matters: (namespace: string) => boolean): Finding[] {
    const missing = this.#references.filter(
      ({ namespace, target }) =>
        matters(namespace) &&
        (target === undefined ||
          !this.workloads.some(
            (workload) =>
              workload.kind === target.kind &&
              workload.name === target.name &&
              workload.namespace === namespace &&
              groupOf(workload.apiVersion) === groupOf(target.apiVersion),
          )),
    );
    return missing.map(({ finding }) => finding);
  }

  #object(value: unknown, path: Path, document: SourceDocument, read: ReadDocument): void {
    const line = read.lineOf(path);
    const items = itemsOf(value);
    try {
      if (items !== undefined) {
        for (const [index, item] of items.list.entries()) {
          this.#counted += 1;
          if (this.full) throw tooLarge(this.#tooMany);
          this.#object(items.complete(item), [...path, ...items.path, index], document, read);
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
      this.countOther('no kind');
      return;
    }
    const known = podKinds.get(kind);
    if (known !== undefined && typeof apiVersion !== 'string') {
      throw new CniGateError('CNI_GATE_INPUT_SYNTAX', `a ${kind} has no apiVersion`);
    }
    const group = groupOf(String(apiVersion));
    if (kind === reviewKind && group === 'admission.k8s.io') {
      this.workloads.push({ ...this.#given(value), document, path, line });
    } else if (known !== undefined && known.apiVersion === apiVersion) {
      const workload = { ...this.#made(value, known), document, path, line };
      this.workloads.push(workload);
      this.findings.push(...workloadKeys(value, [workload]));
      const fault = group === 'batch' ? jobFault(value, known.podPath) : undefined;
      if (fault !== undefined) this.jobFaults.set(workload, fault);
    } else if (kind === 'Namespace' && group === '') {
      const { name, labels, annotations } = namespaceLabels(value);
      const place = { file: document.file, line };
      const before = this.namespaces.get(name);
      if (before !== undefined && before.labels[profileLabel] !== labels[profileLabel]) {
        const at = { document, path: [...path, 'metadata', 'labels', profileLabel] };
        this.findings.push({ ...namespaceTwice(name, before, { labels, ...place }), at });
      }
      const at = { document, path };
      this.namespaces.set(name, { labels, annotations, ...place, at });
      this.findings.push(...namespaceKeys(value, name, { ...place, at }));
    } else {
      const found = templatesIn(value, this.#kinds);
      if (found === undefined || found.templates.length === 0) {
        this.countOther(kind);
        if (!found?.none && found?.reference === undefined) this.#unknown(value, document, path, line);
      }
      if (found !== undefined) this.#custom(value, found, document, path, line);
    }
  }

  /** An object of another project's kind: a workload for each of its templates. */
  #custom(object: Fields, found: FoundTemplates, document: SourceDocument, path: Path, line: number): void {
    const { kind, apiVersion } = object;
    const made = found.templates.map(({ path: podPath, part }): Workload => {
      const podKind = customKind(String(apiVersion), String(kind), podPath);
      return {
        ...this.#made(object, podKind),
        ...(part !== undefined && { part }),
        ...(!found.known && { unknownKind: true }),
        document,
        path,
        line,
      };
    });
    this.workloads.push(...made);
    this.findings.push(...workloadKeys(object, made));
    for (const [index, { path: podPath, job }] of found.templates.entries()) {
      const workload = made[index];
      const isVolcano = groupOf(String(apiVersion)) === 'batch.volcano.sh';
      const fault = job ? jobFault(object, podPath) : isVolcano ? volcanoFault(object, podPath) : undefined;
      if (workload !== undefined && fault !== undefined) this.jobFaults.set(workload, fault);
    }
    const { reference } = found;
    if (reference === undefined) return;
    const { namespace, name } = this.#nameOf(object);
    const message = `uses the pod template of ${reference.kind} ${reference.name}, which is not in the input, so it is not checked: add that object to the input`;
    const subject = `${kind} ${namespace}/${name}`;
    const place = { file: document.file, line };
    const finding = { code: 'CNI_GATE_TEMPLATE_NOT_GIVEN', message, subject, namespace, ...place } as const;
    this.#references.push({ finding, namespace, target: reference });
  }

  /** An object that is no workload, as far as known. */
  #unknown(object: Fields, document: SourceDocument, path: Path, line: number): void {
    const unknown = unknownKind(object, this.#kinds);
    if (unknown === undefined) return;
    const { namespace, name } = this.#nameOf(object);
    const { message } = unknown;
    const subject = `${object.kind} ${namespace}/${name}`;
    const at = { document, path: [...path, ...unknown.path] };
    const place = { namespace, file: document.file, line, at };
    this.#references.push({
      finding: { code: 'CNI_GATE_KIND_UNKNOWN', message, subject, ...place },
      namespace,
    });
  }

  #given(review: Fields): Omit<Workload, 'document' | 'path' | 'line'> {
    const request = fieldsOf(review.request);
    const pod = fieldsOf(request.object);
    const metadata = fieldsOf(pod.metadata);
    return {
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

  #nameOf(object: Fields): { namespace: string; name: string } {
    const metadata = fieldsOf(object.metadata);
    const { namespace: own } = metadata;
    const namespace = typeof own === 'string' && own !== '' ? own : this.#defaultNamespace;
    return { namespace, name: ownName(metadata) };
  }

  #made(object: Fields, podKind: PodKind): Omit<Workload, 'document' | 'path' | 'line'> {
    const kind = String(object.kind);
    const { namespace, name } = this.#nameOf(object);
    const pod = podOf(podKind, object, namespace, `${kind} ${namespace}/${name}`);
    return {
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
}

/** The last one counts, as in a cluster, but the first may have been intended. */
function namespaceTwice(
  name: string,
  first: NamespaceObject,
  { labels, file, line }: Pick<NamespaceObject, 'labels' | 'file' | 'line'>,
): Finding {
  const said = (of: Record<string, string>): string =>
    of[profileLabel] === undefined
      ? `without label ${profileLabel}`
      : `with ${profileLabel}=${of[profileLabel]}`;
  const message = `is twice in the input: ${said(first.labels)} in ${first.file}:${first.line}, and here ${said(labels)}, which counts: remove one of them`;
  return {
    code: 'CNI_GATE_NAMESPACE_TWICE',
    message,
    subject: `Namespace ${name}`,
    namespace: name,
    file,
    line,
  };
}

/** An object whose pods are not in it, or are not found. */
interface Reference {
  /** The finding, unless the target is in the input. */
  finding: Finding;
  namespace: string;
  /** The workload whose template it uses. */
  target?: { apiVersion: string; kind: string; name: string };
}

/** A value as JSON text, as it would be sent. */
function keptAsText(value: unknown): () => unknown {
  const text = JSON.stringify(value);
  return () => JSON.parse(text);
}

/** The name, or the generateName followed by `*`, for messages. */
function ownName({ name, generateName }: Fields): string {
  if (typeof name === 'string') return name;
  return typeof generateName === 'string' ? `${generateName}*` : '(no name)';
}

/** A pod always has metadata, a template need not. */
function missingMetadata(object: Fields, podPath: Path): Operation[] {
  const path = [...podPath, 'metadata'];
  return isObject(valueAt(object, path)) ? [] : [{ op: 'add', path: pointer(path), value: {} }];
}
