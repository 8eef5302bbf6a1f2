import { lineOf } from '../input/documents.ts';
import { isCustom } from '../input/templates.ts';
import { type Finding, nameOf, type Path, type Position, type Workload } from '../model.ts';
import { type Fields, fieldsOf } from '../values.ts';

/** The finding for an object that seems to contain a pod, but has an unknown kind or a wrong `apiVersion`. */
export function unknownObject(
  object: Fields,
  names: Pick<Workload, 'kind' | 'namespace' | 'name'>,
  { document, path }: Position,
): (Finding & { namespace: string }) | undefined {
  const { metadata: _, status: __, data: ___, ...rest } = object;
  const apiVersion = String(object.apiVersion);
  const custom = isCustom(apiVersion);
  const found = !custom && holdsPod(object, []) ? [] : search(rest, []);
  if (found === undefined) return undefined;
  const where = found.map((part) => (typeof part === 'number' ? '*' : part)).join('.');
  const advice = custom
    ? `add the kind to review.kinds of the configuration, with path ${where}, or with path none if that is no pod template`
    : 'correct apiVersion and kind';
  return {
    code: 'CNI_GATE_KIND_UNKNOWN',
    message: `has containers in ${where || 'spec'}, and kind ${names.kind} of ${apiVersion} is unknown, so they are not reviewed: ${advice} (docs/reference/configuration.md#review)`,
    subject: nameOf(names),
    namespace: names.namespace,
    file: document.file,
    line: lineOf(document, [...path, ...found]),
  };
}

/** The path of the first pod in a value; undefined if there is none. */
function search(value: unknown, path: Path): Path | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (path.length > 0 && holdsPod(value, path)) return path;
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
  for (const [key, inner] of entries) {
    const deeper = search(inner, [...path, key]);
    if (deeper !== undefined) return deeper;
  }
  return undefined;
}

/** Whether a value is a pod template with containers, or a template of an Argo Workflow with a container or script. */
function holdsPod(value: unknown, path: Path): boolean {
  const { spec, container, script } = fieldsOf(value);
  const { containers } = fieldsOf(spec);
  const isCalledTemplate = /template$/i.test(String(path.at(-1)));
  if (Array.isArray(containers))
    return containers.some((container) => isContainer(container, isCalledTemplate));
  return (
    path.at(-2) === 'templates' && [container, script].some((container) => isContainer(container, false))
  );
}

function isContainer(value: unknown, byName: boolean): boolean {
  const { name, image } = fieldsOf(value);
  return typeof image === 'string' || (byName && typeof name === 'string');
}
