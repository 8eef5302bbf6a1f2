import { lineOf } from '../input/documents.ts';
import { isCustom } from '../input/templates.ts';
import { type Finding, nameOf, type Path, type Position, type Workload } from '../model.ts';
import { type Fields, fieldsOf, valueAt } from '../values.ts';

/** Deeper than any kind known today has its templates. */
const deepest = 16;

/**
 * A finding for the pod that an object of an unknown kind seems to contain: a misspelled kind, a wrong `apiVersion`, or a
 * kind whose pods `review` does not find. Undefined where there is none.
 */
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
  const where = found.map((part) => (isFieldName(part) ? part : '*')).join('.');
  const isTemplate = Array.isArray(valueAt(object, [...found, 'spec', 'containers']));
  const setting = isTemplate
    ? `path ${where}, or with path none if that is no pod template`
    : 'path none: its controller makes the pods from other fields, so review those pods themselves';
  const advice = custom
    ? `add the kind to review.kinds of the configuration, with ${setting}`
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

/** Fields that name the image of a container, in objects whose controllers make the pods themselves. */
const imageFields: ReadonlySet<string> = new Set(['image', 'imageName']);

/** Whether an object of another project seems to create pods, although it contains no pod template. */
export const seemsToCreatePods = ({ apiVersion, spec }: Fields): boolean =>
  isCustom(String(apiVersion)) && namesImage(spec, 0);

const namesImage = (value: unknown, depth: number): boolean =>
  typeof value === 'object' &&
  value !== null &&
  depth <= deepest &&
  Object.entries(value).some(
    ([key, inner]) => (imageFields.has(key) && typeof inner === 'string') || namesImage(inner, depth + 1),
  );

/** Other keys, and indexes, are any key in a path of `review.kinds`. */
const isFieldName = (part: string | number): boolean => /^[A-Za-z][A-Za-z0-9_-]*$/.test(String(part));

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
