import { reviewKind } from '../../admission/review.ts';
import type { TemplateKind } from '../../config/types.ts';
import { CniGateError } from '../../lib/errors.ts';
import { namespaceKeys, workloadKeys } from '../findings/keys.ts';
import { namespaceTwice, templateNotGiven, unknownObject } from '../findings/objects.ts';
import { type Fault, type Finding, faultAt, type SourceDocument, type Workload } from '../model.ts';
import { describe, type Fields, fieldsOf, isObject } from '../values.ts';
import { lineOf, parsed, repeatedKey } from './documents.ts';
import { mostObjects } from './limits.ts';
import { type NamespaceObject, namespaceLabels } from './namespace.ts';
import { type FoundTemplates, groupOf, kubernetesKinds, templatesIn } from './templates.ts';
import { givenWorkload, nameIn, type Position, workloadOf } from './workload.ts';

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
  readonly namespaces = new Map<string, NamespaceObject>();
  readonly otherObjects = new Map<string, number>();
  readonly #defaultNamespace: string;
  readonly #kinds: readonly TemplateKind[];
  readonly #references: Reference[] = [];
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
    return this.#counted > mostObjects;
  }

  /** Adds a document. */
  take(document: SourceDocument): void {
    this.#guarded(document, document.start, () => {
      this.#count();
      this.documents.push(document);
      const repeated = document.blank ? undefined : repeatedKey(document);
      if (repeated !== undefined) this.faults.push(repeated);
      else if (!document.blank) this.#object(parsed(document).value, { document, path: [] });
    });
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
    return this.workloads.some(
      (one) =>
        one.kind === target?.kind &&
        one.name === target.name &&
        one.namespace === namespace &&
        groupOf(one.apiVersion) === groupOf(target.apiVersion),
    );
  }

  #count(): void {
    this.#counted += 1;
    if (!this.full) return;
    const message = `more than ${mostObjects} documents and objects: review fewer at a time`;
    throw new CniGateError('CNI_GATE_INPUT_TOO_LARGE', message);
  }

  /** Reports what is wrong with an object, and goes on with the next one. */
  #guarded({ file }: SourceDocument, line: number, read: () => void): void {
    try {
      read();
    } catch (error) {
      if (error instanceof CniGateError) {
        this.faults.push(faultAt({ file, line }, error.code, error.message));
      } else if (error instanceof RangeError) {
        const message = 'the object is nested too deeply or too large';
        this.faults.push(faultAt({ file, line }, 'CNI_GATE_INPUT_SYNTAX', message));
      } else throw error;
    }
  }

  #object(value: unknown, { document, path }: Omit<Position, 'line'>): void {
    const line = lineOf(document, path);
    this.#guarded(document, line, () => {
      const items = itemsOf(value);
      if (items === undefined) {
        if (value !== null) this.#single(value, { document, path, line });
        return;
      }
      const at = Array.isArray(value) ? path : [...path, 'items'];
      for (const [index, item] of items.entries()) {
        this.#count();
        this.#object(item, { document, path: [...at, index] });
      }
    });
  }

  #single(value: unknown, position: Position): void {
    if (!isObject(value)) {
      throw new CniGateError('CNI_GATE_INPUT_SYNTAX', `expected a Kubernetes object, got ${describe(value)}`);
    }
    const { kind, apiVersion } = value;
    const group = groupOf(String(apiVersion));
    if (typeof kind !== 'string') this.countOther('no kind');
    else if (kind === reviewKind && group === 'admission.k8s.io') {
      this.workloads.push(givenWorkload(value, position));
    } else if (kind === 'Namespace' && group === '') this.#namespace(value, position);
    else if (typeof apiVersion !== 'string' && kubernetesKinds.some((one) => one.kind === kind)) {
      throw new CniGateError('CNI_GATE_INPUT_SYNTAX', `a ${kind} has no apiVersion`);
    } else this.#workloads(value, position);
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

  /** An object is a workload for each of its templates. */
  #workloads(object: Fields, position: Position): void {
    const names = { kind: String(object.kind), ...nameIn(object, this.#defaultNamespace) };
    const found = templatesIn(object, this.#kinds);
    const { templates = [], reference, known = false, none = false } = found ?? {};
    if (templates.length === 0) this.countOther(names.kind);
    if (reference !== undefined) {
      this.#references.push({ finding: templateNotGiven(reference, names, position), target: reference });
    } else if (templates.length === 0 && !none) {
      const unknown = unknownObject(object, this.#kinds, names, position);
      if (unknown !== undefined) this.#references.push({ finding: unknown });
    }
    const workloads = templates.map(
      (template): Workload => ({
        ...workloadOf(object, template, position, this.#defaultNamespace),
        ...(!known && { unknownKind: true }),
      }),
    );
    this.workloads.push(...workloads);
    this.findings.push(...workloadKeys(object, workloads));
  }
}

/**
 * The objects of a list, a List, or a list of one kind such as PodList, whose items may omit kind and apiVersion
 * (https://kubernetes.io/docs/reference/using-api/api-concepts/#collections). Undefined for any other value.
 */
function itemsOf(value: unknown): unknown[] | undefined {
  if (Array.isArray(value)) return value;
  const { kind, apiVersion, items } = fieldsOf(value);
  if (typeof kind !== 'string' || !kind.endsWith('List') || !Array.isArray(items)) return undefined;
  const itemKind = kind.slice(0, -'List'.length);
  return items.map((item) =>
    itemKind === '' || !isObject(item) || 'kind' in item ? item : { apiVersion, kind: itemKind, ...item },
  );
}
