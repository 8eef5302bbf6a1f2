import type { TemplateKind } from '../../config/types.ts';
import { profileLabel } from '../../lib/names.ts';
import { nearest } from '../../lib/nearest.ts';
import type { NamespaceObject } from '../input/namespace.ts';
import { type FoundTemplates, groupOf, isCustom, kubernetesKinds, noPath } from '../input/templates.ts';
import type { Position } from '../input/workload.ts';
import { type Finding, nameOf, type Path, type Workload } from '../model.ts';
import { type Fields, fieldsOf } from '../values.ts';

/** Deeper than any kind known today has its templates. */
const deepest = 16;

const guide = 'docs/reference/configuration.md#review';

/** What names an object in a finding. */
type Names = Pick<Workload, 'kind' | 'namespace' | 'name'>;

/**
 * A finding for the pod that an object of an unknown kind seems to contain: a misspelled kind, a wrong `apiVersion`, or a
 * kind whose pods `review` does not find. Undefined where there is none.
 *
 * @param kinds kinds of other projects that contain pod templates
 */
export function unknownObject(
  object: Fields,
  kinds: readonly TemplateKind[],
  names: Names,
  { document, path, line }: Position,
): (Finding & { namespace: string }) | undefined {
  const { metadata: _, status: __, data: ___, ...rest } = object;
  const apiVersion = String(object.apiVersion);
  const custom = isCustom(apiVersion);
  const found = !custom && holdsPod(object, []) ? [] : search(rest, []);
  if (found === undefined) return undefined;
  const where = found.map((part) => (isFieldName(part) ? part : '*')).join('.');
  const meant = similar(names.kind, apiVersion, kinds);
  const advice =
    meant !== undefined
      ? `did you mean ${meant}?`
      : custom
        ? `add the kind to review.kinds of the configuration, with path ${where}, or with path none if that is no pod template (${guide})`
        : `correct apiVersion and kind (${guide})`;
  return {
    code: 'CNI_GATE_KIND_UNKNOWN',
    message: `has containers in ${where || 'spec'}, and kind ${names.kind} of ${apiVersion} is unknown, so they are not reviewed: ${advice}`,
    subject: nameOf(names),
    namespace: names.namespace,
    file: document.file,
    line,
    at: { document, path: [...path, ...found] },
  };
}

/** An object that uses the pod template of another one, which is not in the input. */
export function templateNotGiven(
  { kind, name }: NonNullable<FoundTemplates['reference']>,
  names: Names,
  { document, line }: Position,
): Finding & { namespace: string } {
  return {
    code: 'CNI_GATE_TEMPLATE_NOT_GIVEN',
    message: `uses the pod template of ${kind} ${name}, which is not in the input, so it is not checked: add that object to the input`,
    subject: nameOf(names),
    namespace: names.namespace,
    file: document.file,
    line,
  };
}

/** A Namespace that is there twice. The last one counts, as in a cluster, but the first may have been intended. */
export function namespaceTwice(
  name: string,
  first: NamespaceObject | undefined,
  { labels, file, line, at }: NamespaceObject,
): Finding[] {
  if (first === undefined || first.labels[profileLabel] === labels[profileLabel]) return [];
  const said = ({ [profileLabel]: profile }: Record<string, string>): string =>
    profile === undefined ? `without label ${profileLabel}` : `with ${profileLabel}=${profile}`;
  const message = `is twice in the input: ${said(first.labels)} in ${first.file}:${first.line}, and here ${said(labels)}, which counts: remove one of them`;
  const about = { subject: `Namespace ${name}`, namespace: name, file, line };
  const label = { ...at, path: [...at.path, 'metadata', 'labels', profileLabel] };
  return [{ code: 'CNI_GATE_NAMESPACE_TWICE', message, ...about, at: label }];
}

/** Other keys, and indexes, are any key in a path of `review.kinds`. */
const isFieldName = (part: string | number): boolean => /^[A-Za-z][A-Za-z0-9_-]*$/.test(String(part));

/** The kind or the apiVersion that was probably meant. */
function similar(kind: string, apiVersion: string, kinds: readonly TemplateKind[]): string | undefined {
  const all = [...kubernetesKinds, ...kinds.filter(({ path }) => path !== noPath)];
  const named = all.find((entry) => entry.kind === kind);
  if (named !== undefined) return `apiVersion ${named.apiVersion}`;
  const inGroup = all.filter((entry) => groupOf(entry.apiVersion) === groupOf(apiVersion));
  const meant = nearest(
    kind,
    inGroup.map((entry) => entry.kind),
  );
  return meant === undefined ? undefined : `kind ${meant}`;
}

/** The path of the first pod in a value. */
function search(value: unknown, path: Path): Path | undefined {
  if (typeof value !== 'object' || value === null || path.length > deepest) return undefined;
  if (path.length > 0 && holdsPod(value, path)) return path;
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
  for (const [key, inner] of entries) {
    const deeper = search(inner, [...path, key]);
    if (deeper !== undefined) return deeper;
  }
  return undefined;
}

/** Whether a value is a pod template with containers (what is not called one needs an image), or one of an Argo Workflow. */
function holdsPod(value: unknown, path: Path): boolean {
  const { spec, container, script } = fieldsOf(value);
  const { containers } = fieldsOf(spec);
  const isCalledTemplate = /template$/i.test(String(path.at(-1)));
  if (Array.isArray(containers)) return containers.some((one) => isContainer(one, isCalledTemplate));
  return path.at(-2) === 'templates' && [container, script].some((one) => isContainer(one, false));
}

function isContainer(value: unknown, byName: boolean): boolean {
  const { name, image } = fieldsOf(value);
  return typeof image === 'string' || (byName && typeof name === 'string');
}
