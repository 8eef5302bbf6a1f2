import { dotted } from '../../config/explain.ts';
import type { TemplateKind } from '../../config/types.ts';
import { CniGateError } from '../../lib/errors.ts';
import type { Path } from '../model.ts';
import { type Fields, fieldsOf, isObject, valueAt } from '../values.ts';
import { groupOf } from './kinds.ts';

/** A pod template in a custom resource. */
export interface FoundTemplate {
  path: Path;
  /** Which of several templates it is, for messages; absent if the kind has only one. */
  part?: string;
  /** Whether it is in the spec of a Job. */
  job?: true;
}

/** The pod templates of an object. */
export interface FoundTemplates {
  templates: FoundTemplate[];
  /** Whether the kind is in the list, rather than recognized by its fields. */
  known: boolean;
  /** Whether the list says that the kind has no templates. */
  none?: true;
  /** The workload whose template the object uses if it has none. */
  reference?: { apiVersion: string; kind: string; name: string };
}

/** More than any workload has. All templates of an object are kept in memory. */
const mostTemplates = 1000;

const usualPath = ['spec', 'template'];

/** The path of a kind without pod templates. */
const noPath = 'none';

/**
 * The pod templates of an object by the list of kinds. A custom resource that is not in the list counts as a workload
 * if it has `spec.template.spec.containers`.
 *
 * @returns undefined if the object is not a workload
 * @throws CniGateError CNI_GATE_INPUT_SYNTAX for an object with too many templates
 */
export function templatesIn(object: Fields, kinds: readonly TemplateKind[]): FoundTemplates | undefined {
  const apiVersion = String(object.apiVersion);
  const entries = kinds.filter(
    (entry) => entry.kind === object.kind && matchesVersion(entry.apiVersion, apiVersion),
  );
  if (entries.length > 0) return byEntries(object, entries);
  // groups of custom resources have a dot: https://kubernetes.io/docs/reference/using-api/#api-groups
  const looksLikeOne =
    groupOf(apiVersion).includes('.') && Array.isArray(valueAt(object, [...usualPath, 'spec', 'containers']));
  return looksLikeOne ? { templates: [{ path: usualPath }], known: false } : undefined;
}

const matchesVersion = (pattern: string, apiVersion: string): boolean =>
  pattern.endsWith('/*') ? groupOf(apiVersion) === groupOf(pattern) : pattern === apiVersion;

function byEntries(object: Fields, entries: readonly TemplateKind[]): FoundTemplates {
  if (entries.some(({ path }) => path === noPath)) return { templates: [], known: true, none: true };
  const severalPaths = entries.length > 1;
  const templates = entries.flatMap(({ path, job }) =>
    pathsOf(object, path).map((found): FoundTemplate => {
      const named = severalPaths || path.includes('*');
      return { path: found, ...(named && { part: partOf(found) }), ...(job && { job }) };
    }),
  );
  if (templates.length > 0) return { templates, known: true };
  const reference = entries.map((entry) => referenceOf(object, entry)).find((found) => found !== undefined);
  return { templates, known: true, ...(reference && { reference }) };
}

/** The paths in an object that match a path of the list. */
function pathsOf(object: Fields, path: string): Path[] {
  if (path === '.') return [[]];
  let found: Path[] = [[]];
  for (const part of path.split('.')) {
    found = found.flatMap((at) => {
      if (part !== '*') return [[...at, part]];
      const value = valueAt(object, at);
      return Array.isArray(value)
        ? value.map((_, index) => [...at, index])
        : Object.keys(fieldsOf(value)).map((key) => [...at, key]);
    });
    found = found.filter((at) => isPresent(valueAt(object, at)));
    if (found.length > mostTemplates) {
      const message = `${path} matches more than ${mostTemplates} values`;
      throw new CniGateError('CNI_GATE_INPUT_SYNTAX', message);
    }
  }
  return found;
}

const isPresent = (value: unknown): boolean => value !== undefined && value !== null;

/** `pytorchReplicaSpecs.Worker`: the path without the common beginning and end. */
function partOf(path: Path): string {
  const middle = path.slice(path[0] === 'spec' ? 1 : 0, path.at(-1) === 'template' ? -1 : undefined);
  return dotted([...(middle.length > 0 ? middle : path)]);
}

function referenceOf(object: Fields, { reference }: TemplateKind): FoundTemplates['reference'] {
  const value = reference === undefined ? undefined : valueAt(object, reference.split('.'));
  if (!isObject(value)) return undefined;
  const { apiVersion, kind, name } = value;
  return { apiVersion: String(apiVersion), kind: String(kind), name: String(name) };
}
