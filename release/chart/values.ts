import { serverImage, validatorImage } from '../../webhook/lib/images.ts';
import type { KubernetesObject } from '../kustomize.ts';
import { idOf } from '../kustomize.ts';
import { type Placeholder, placeholder } from './placeholder.ts';

type Path = (string | number)[];

/** A field of an object that the chart takes from its values. */
interface ValueField extends Placeholder {
  /** Kind and name. */
  object: string;
  /** To a field, or to a list or map to which `entries` are added. A path that is not there yet is made. */
  path: Path;
}

const pod: Path = ['spec', 'template', 'spec'];
const container: Path = [...pod, 'containers', 0];
const deployment = 'Deployment/cni-gate';

/** The fields that the chart takes from its values and files, except the images, which are replaced wherever they occur. */
const fields: ValueField[] = [
  {
    name: 'replicas',
    object: deployment,
    path: ['spec', 'replicas'],
    form: 'scalar',
    expression: '.Values.replicas',
  },
  {
    name: 'podAnnotations',
    object: deployment,
    path: ['spec', 'template', 'metadata', 'annotations'],
    form: 'entries',
    expression: '.Values.podAnnotations',
  },
  {
    name: 'nodeSelector',
    object: deployment,
    path: [...pod, 'nodeSelector'],
    form: 'entries',
    expression: '.Values.nodeSelector',
  },
  {
    name: 'tolerations',
    object: deployment,
    path: [...pod, 'tolerations'],
    form: 'entries',
    expression: '.Values.tolerations',
  },
  {
    name: 'extraArgs',
    object: deployment,
    path: [...container, 'args'],
    form: 'entries',
    expression: '.Values.extraArgs',
  },
  {
    name: 'resources',
    object: deployment,
    path: [...container, 'resources'],
    form: 'block',
    expression: '.Values.resources',
  },
  {
    name: 'imagePullSecrets',
    object: 'ServiceAccount/cni-gate',
    path: ['imagePullSecrets'],
    form: 'block',
    expression: '.Values.imagePullSecrets',
  },
  {
    name: 'configuration',
    object: 'ConfigMap/cni-gate',
    path: ['data', 'config.yaml'],
    form: 'text',
    expression:
      'mergeOverwrite (include "cni-gate.configuration" . | fromYaml) .Values.configuration | toYaml',
  },
  {
    name: 'policyImages',
    object: 'ValidatingAdmissionPolicy/pods.cni-gate.io',
    path: ['spec', 'variables', 0, 'expression'],
    form: 'scalar',
    expression: 'include "cni-gate.policyImages" . | quote',
  },
  {
    name: 'networkPolicyFrom',
    object: 'NetworkPolicy/cni-gate',
    path: ['spec', 'ingress', 0, 'from'],
    form: 'block',
    expression: '.Values.networkPolicy.from',
  },
  {
    name: 'dashboard',
    object: 'ConfigMap/cni-gate-dashboard',
    path: ['data', 'cni-gate.json'],
    form: 'text',
    expression: '.Files.Get "dashboard/cni-gate.json" | trim',
  },
];

/** By the image that the manifests name. */
const images: [image: string, Placeholder][] = [
  [serverImage, { name: 'image', form: 'scalar', expression: 'include "cni-gate.image" . | quote' }],
  [
    validatorImage,
    { name: 'validatorImage', form: 'scalar', expression: 'include "cni-gate.validatorImage" . | quote' },
  ],
];

/** Every placeholder that an object can have. */
export const placeholders: Placeholder[] = [...fields, ...images.map(([, one]) => one)];

/**
 * Puts placeholders in the place of what the chart takes from its values.
 *
 * @returns a changed copy
 * @throws Error if a list or map to which entries are added is missing
 */
export function withPlaceholders(object: KubernetesObject): KubernetesObject {
  const copy: KubernetesObject = images.reduce(
    (result, [image, its]) => replaceEqual(result, image, placeholder(its)),
    structuredClone(object),
  );
  for (const field of fields) {
    if (field.object === idOf(object)) put(copy, field);
  }
  return copy;
}

function replaceEqual<T>(value: T, wanted: unknown, replacement: unknown): T;
function replaceEqual(value: unknown, wanted: unknown, replacement: unknown): unknown {
  if (value === wanted) return replacement;
  if (Array.isArray(value)) return value.map((item) => replaceEqual(item, wanted, replacement));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [key, replaceEqual(item, wanted, replacement)]),
  );
}

function put(object: KubernetesObject, field: ValueField): void {
  const { path, form, object: id } = field;
  // biome-ignore lint/suspicious/noExplicitAny: objects of many kinds, read by their paths
  const parent = path.slice(0, -1).reduce((at: any, key) => at?.[key], object);
  const last = path.at(-1) ?? '';
  const at = parent?.[last];
  const text = placeholder(field);
  if (parent === undefined || (form === 'entries' && at === undefined)) {
    throw new Error(`${id} has no ${path.join('.')}: correct release/chart/values.ts`);
  }
  if (form !== 'entries') parent[last] = text;
  else if (Array.isArray(at)) at.push(text);
  else at[text] = '';
}
