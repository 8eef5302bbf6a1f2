import type { TemplateKind } from '../../config/types.ts';
import { nearest } from '../../lib/nearest.ts';
import { groupOf, podKinds } from '../input/kinds.ts';
import type { Path } from '../model.ts';
import { type Fields, fieldsOf, isObject } from '../values.ts';

/** A pod in an object whose kind `review` does not know. */
export interface UnknownKind {
  message: string;
  /** Where the pod is in the object. */
  path: Path;
}

/** Deeper than any kind known today has its templates. */
const deepest = 16;

const guide = 'docs/reference/configuration.md#review';

/**
 * The pod that an object of an unknown kind seems to contain: a misspelled kind, a wrong `apiVersion`, or a kind whose
 * pods `review` does not find. Undefined where there is none.
 *
 * @param kinds kinds of other projects that contain pod templates
 */
export function unknownKind(object: Fields, kinds: readonly TemplateKind[]): UnknownKind | undefined {
  const kind = String(object.kind);
  const apiVersion = String(object.apiVersion);
  // groups of custom resources have a dot: https://kubernetes.io/docs/reference/using-api/api-concepts
  const isCustom = groupOf(apiVersion).includes('.');
  const found = isCustom ? undefined : podIn(object, []);
  const { metadata: _, status: __, data: ___, ...rest } = object;
  const pod = found ?? search(rest, []);
  if (pod === undefined) return undefined;
  const where = pod.path.map((part) => (isFieldName(part) ? part : '*')).join('.');
  const unseen = `has containers in ${where || 'spec'}, and kind ${kind} of ${apiVersion} is unknown, so they are not reviewed`;
  const meant = similar(kind, apiVersion, kinds);
  if (meant !== undefined) return { path: pod.path, message: `${unseen}: did you mean ${meant}?` };
  const advice = !isCustom
    ? 'correct apiVersion and kind'
    : pod.isTemplate
      ? `add the kind to review.kinds of the configuration, with path ${where}`
      : 'they are in no pod template, which is all that review finds; to accept that, add the kind to review.kinds of the configuration with path none';
  return { path: pod.path, message: `${unseen}: ${advice} (${guide})` };
}

/** Other keys, and indexes, are any key in a path of `review.kinds`. */
const isFieldName = (part: string | number): boolean => /^[A-Za-z][A-Za-z0-9_-]*$/.test(String(part));

/** The kind or the apiVersion that was probably meant. */
function similar(kind: string, apiVersion: string, kinds: readonly TemplateKind[]): string | undefined {
  const served = podKinds.get(kind)?.apiVersion;
  if (served !== undefined) return `apiVersion ${served}`;
  const ours = kinds.filter(({ path }) => path !== 'none');
  const named = ours.find((entry) => entry.kind === kind);
  if (named !== undefined) return `apiVersion ${named.apiVersion}`;
  const inGroup = ours.filter((entry) => groupOf(entry.apiVersion) === groupOf(apiVersion));
  const ofKubernetes = [...podKinds].filter(([, entry]) => groupOf(entry.apiVersion) === groupOf(apiVersion));
  const meant = nearest(kind, [...inGroup.map((entry) => entry.kind), ...ofKubernetes.map(([name]) => name)]);
  return meant === undefined ? undefined : `kind ${meant}`;
}

interface FoundPod {
  path: Path;
  /** Whether it is a pod template rather than containers in another form. */
  isTemplate: boolean;
}

function search(value: unknown, path: Path): FoundPod | undefined {
  if (typeof value !== 'object' || value === null || path.length > deepest) return undefined;
  const found = path.length > 0 ? podIn(value, path) : undefined;
  if (found !== undefined) return found;
  const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
  for (const [key, inner] of entries) {
    const deeper = search(inner, [...path, key]);
    if (deeper !== undefined) return deeper;
  }
  return undefined;
}

/** A pod template with containers; what is not called a template needs an image. Or a template of an Argo Workflow. */
function podIn(value: unknown, path: Path): FoundPod | undefined {
  if (!isObject(value)) return undefined;
  const { containers } = fieldsOf(value.spec);
  const isCalledTemplate = /template$/i.test(String(path.at(-1)));
  if (Array.isArray(containers) && containers.some((one) => isContainer(one, isCalledTemplate))) {
    return { path, isTemplate: true };
  }
  const runs = [value.container, value.script].some((one) => isContainer(one, false));
  return runs && path.at(-2) === 'templates' ? { path, isTemplate: false } : undefined;
}

function isContainer(value: unknown, byName: boolean): boolean {
  const { name, image } = fieldsOf(value);
  return typeof image === 'string' || (byName && typeof name === 'string');
}
