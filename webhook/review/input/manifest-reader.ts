import { reviewKind } from '../../admission/review.ts';
import type { TemplateKind } from '../../config/types.ts';
import { CniGateError } from '../../lib/errors.ts';
import { namespaceKeys, workloadKeys } from '../findings/keys.ts';
import { namespaceTwice, templateNotGiven, unknownObject } from '../findings/objects.ts';
import {
  type Fault,
  type Finding,
  faultAt,
  type Path,
  type SourceDocument,
  type Workload,
} from '../model.ts';
import { describe, type Fields, isObject } from '../values.ts';
import type { ReadDocument } from './documents.ts';
import { customKind, groupOf, podKinds } from './kinds.ts';
import { mostObjects, tooLarge } from './limits.ts';
import { itemsOf } from './list.ts';
import { type NamespaceObject, namespaceLabels } from './namespace.ts';
import { type FoundTemplates, templatesIn } from './templates.ts';
import { givenWorkload, jobFaultOf, nameIn, type Position, workloadOf } from './workload.ts';

/** An object whose pods are not in it, or are not found. */
interface Reference {
  /** The finding, unless the target is in the input. */
  finding: Finding & { namespace: string };
  /** The workload whose template it uses. */
  target?: FoundTemplates['reference'];
}

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

  /** Whether there were too many documents and objects, which was reported. */
  get full(): boolean {
    return this.#counted > this.#max;
  }

  /** Adds a document; one without `lineOf` is blank or unreadable, and only its text is kept. */
  take(read: ReadDocument | SourceDocument): void {
    const { file, start } = read;
    try {
      this.#count();
    } catch (error) {
      this.#addFault(error, file, start);
      return;
    }
    if (!('lineOf' in read)) {
      this.documents.push(read);
      return;
    }
    const { value, lineOf, repeated, ...document } = read;
    this.documents.push(document);
    if (repeated === undefined) {
      this.#object(value, [], document, lineOf);
    } else {
      const { key, line, column } = repeated;
      const message = `the key "${key}" occurs twice: is a "---" missing before it?`;
      this.faults.push(faultAt({ file, line, column }, 'CNI_GATE_INPUT_SYNTAX', message));
    }
  }

  countOther(kind: string): void {
    this.otherObjects.set(kind, (this.otherObjects.get(kind) ?? 0) + 1);
  }

  /**
   * Objects whose template is in an object that is not in the input, or that are of an unknown kind. Call it when
   * everything was read, because the other object may come later.
   *
   * @param matters whether a namespace has checks
   */
  missingTemplates(matters: (namespace: string) => boolean): Finding[] {
    return this.#references
      .filter(({ finding, target }) => matters(finding.namespace) && !this.#has(finding.namespace, target))
      .map(({ finding }) => finding);
  }

  #has(namespace: string, target: Reference['target']): boolean {
    if (target === undefined) return false;
    const { apiVersion, kind, name } = target;
    return this.workloads.some(
      (one) =>
        one.kind === kind &&
        one.name === name &&
        one.namespace === namespace &&
        groupOf(one.apiVersion) === groupOf(apiVersion),
    );
  }

  #count(): void {
    this.#counted += 1;
    if (this.full) {
      throw tooLarge(
        `more than ${this.#max} documents and objects, which depends on Node's memory: review fewer at a time`,
      );
    }
  }

  #addFault(error: unknown, file: string, line: number): void {
    if (error instanceof CniGateError) {
      this.faults.push(faultAt({ file, line }, error.code, error.message));
    } else if (error instanceof RangeError) {
      const message = 'the object is nested too deeply or too large';
      this.faults.push(faultAt({ file, line }, 'CNI_GATE_INPUT_SYNTAX', message));
    } else throw error;
  }

  #object(value: unknown, path: Path, document: SourceDocument, lineOf: ReadDocument['lineOf']): void {
    const line = lineOf(path);
    const items = itemsOf(value);
    try {
      if (items === undefined) {
        if (value !== null) this.#single(value, { document, path, line });
        return;
      }
      for (const [index, item] of items.list.entries()) {
        this.#count();
        this.#object(items.complete(item), [...path, ...items.path, index], document, lineOf);
      }
    } catch (error) {
      this.#addFault(error, document.file, line);
    }
  }

  #single(value: unknown, position: Position): void {
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
      this.workloads.push(givenWorkload(value, position));
    } else if (known !== undefined && known.apiVersion === apiVersion) {
      const workload = workloadOf(value, known, position, this.#defaultNamespace);
      this.#add(value, [workload], [group === 'batch']);
    } else if (kind === 'Namespace' && group === '') {
      this.#namespace(value, position);
    } else {
      this.#other(value, position);
    }
  }

  /** @param isJob whether each workload's template is that of a Job */
  #add(object: Fields, workloads: readonly Workload[], isJob: readonly boolean[]): void {
    this.workloads.push(...workloads);
    this.findings.push(...workloadKeys(object, workloads));
    for (const [index, workload] of workloads.entries()) {
      const fault = jobFaultOf(object, workload.podPath, isJob[index] === true);
      if (fault !== undefined) this.jobFaults.set(workload, fault);
    }
  }

  #namespace(object: Fields, { document, path, line }: Position): void {
    const place = { file: document.file, line, at: { document, path } };
    const { name, ...maps } = namespaceLabels(object);
    const namespace = { ...maps, ...place };
    this.findings.push(
      ...namespaceTwice(name, this.namespaces.get(name), namespace),
      ...namespaceKeys(object, name, place),
    );
    this.namespaces.set(name, namespace);
  }

  /** An object of another project's kind is a workload for each of its templates. */
  #other(object: Fields, position: Position): void {
    const names = { kind: String(object.kind), ...nameIn(object, this.#defaultNamespace) };
    const found = templatesIn(object, this.#kinds);
    const { templates = [], reference, known = false } = found ?? {};
    if (templates.length === 0) {
      this.countOther(names.kind);
      const isExpected = found?.none === true || reference !== undefined;
      const unknown = isExpected ? undefined : unknownObject(object, this.#kinds, names, position);
      if (unknown !== undefined) this.#references.push({ finding: unknown });
    }
    if (reference !== undefined) {
      this.#references.push({ finding: templateNotGiven(reference, names, position), target: reference });
    }
    const workloads = templates.map(({ path, part }): Workload => {
      const podKind = customKind(String(object.apiVersion), names.kind, path);
      return {
        ...workloadOf(object, podKind, position, this.#defaultNamespace),
        ...(part !== undefined && { part }),
        ...(!known && { unknownKind: true }),
      };
    });
    this.#add(
      object,
      workloads,
      templates.map(({ job }) => job === true),
    );
  }
}
