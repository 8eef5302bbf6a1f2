import { serverImage, validatorImage } from '../../webhook/lib/version.ts';
import { idOf, type KubernetesObject } from '../kustomize.ts';

type Path = (string | number)[];

/** A value of the chart that becomes part of an object. */
interface Placeholder {
  /** Unique. */
  name: string;
  /**
   * `scalar`: one value. `text`: a block of text. `block`: a list or map, left out while the value is empty. `entries`:
   * what is added to a list or map that the manifests have.
   */
  form: 'scalar' | 'text' | 'block' | 'entries';
  /** Go template expression. */
  expression: string;
}

/** A field of an object that the chart takes from its values. */
interface ValueField extends Placeholder {
  /** Kind and name. */
  object: string;
  /** To a field, or to a list or map to which `entries` are added. A path that is not there yet is made. */
  path: Path;
}

/** A field whose value has its own name in the values, if no other expression is given. */
const field = (
  name: string,
  object: string,
  path: Path,
  form: ValueField['form'],
  expression = `.Values.${name}`,
): ValueField => ({ name, object, path, form, expression });

const pod: Path = ['spec', 'template', 'spec'];
const container: Path = [...pod, 'containers', 0];
const deployment = 'Deployment/cni-gate';
const merged =
  'mergeOverwrite (include "cni-gate.configuration" . | fromYaml) .Values.configuration | toYaml';
const policy = 'ValidatingAdmissionPolicy/pods.cni-gate.io';
const policyImages = 'include "cni-gate.policyImages" . | quote';
const dashboard = '.Files.Get "dashboard/cni-gate.json" | trim';

/** The fields that the chart takes from its values and files, except the images, which are replaced wherever they occur. */
const fields: ValueField[] = [
  field('replicas', deployment, ['spec', 'replicas'], 'scalar'),
  field('podAnnotations', deployment, ['spec', 'template', 'metadata', 'annotations'], 'entries'),
  field('nodeSelector', deployment, [...pod, 'nodeSelector'], 'entries'),
  field('tolerations', deployment, [...pod, 'tolerations'], 'entries'),
  field('extraArgs', deployment, [...container, 'args'], 'entries'),
  field('resources', deployment, [...container, 'resources'], 'block'),
  field('imagePullSecrets', 'ServiceAccount/cni-gate', ['imagePullSecrets'], 'block'),
  field('configuration', 'ConfigMap/cni-gate', ['data', 'config.yaml'], 'text', merged),
  field('policyImages', policy, ['spec', 'variables', 0, 'expression'], 'scalar', policyImages),
  field(
    'networkPolicyFrom',
    'NetworkPolicy/cni-gate',
    ['spec', 'ingress', 0, 'from'],
    'block',
    '.Values.networkPolicy.from',
  ),
  field('dashboard', 'ConfigMap/cni-gate-dashboard', ['data', 'cni-gate.json'], 'text', dashboard),
];

/** An image of this release, wherever the manifests name it. */
const image = (name: string): Placeholder => ({
  name,
  form: 'scalar',
  expression: `include "cni-gate.${name}" . | quote`,
});
const images = new Map([
  [serverImage, image('image')],
  [validatorImage, image('validatorImage')],
]);

/** Stands for a value in an object: text that YAML writes without quotes, and that no manifest contains. */
const placeholder = ({ name }: Placeholder): string => `⟦${name}⟧`;

/**
 * Puts placeholders in the place of what the chart takes from its values.
 *
 * @returns a changed copy
 * @throws Error if a list or map to which entries are added is missing
 */
export function withPlaceholders(object: KubernetesObject): KubernetesObject {
  const copy: KubernetesObject = JSON.parse(JSON.stringify(object), (_, value) => {
    const its = images.get(value);
    return its ? placeholder(its) : value;
  });
  for (const field of fields) {
    if (field.object === idOf(object)) put(copy, field);
  }
  return copy;
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

/**
 * Turns a line of YAML into lines of a Go template: a placeholder becomes an action, and the braces of another
 * template language, as in alerts, stay as they are.
 */
export function templateLines(line: string): string[] {
  const [, indent = '', key = '', name] = /^( *)(.*?)⟦(\w+)⟧/.exec(line) ?? [];
  const value = [...fields, ...images.values()].find((one) => one.name === name);
  if (value === undefined) return [line.replaceAll('{{', '{{ "{{" }}')];
  const { form, expression } = value;
  const inner = `nindent ${indent.length + 2} }}`;
  if (form === 'scalar') return [`${indent}${key}{{ ${expression} }}`];
  if (form === 'text') return [`${indent}${key}|`, `${indent}  {{- ${expression} | ${inner}`];
  const content =
    form === 'block'
      ? [`${indent}${key.trimEnd()}`, `${indent}  {{- toYaml . | ${inner}`]
      : [`${indent}{{- toYaml . | nindent ${indent.length} }}`];
  return [`${indent}{{- with ${expression} }}`, ...content, `${indent}{{- end }}`];
}
