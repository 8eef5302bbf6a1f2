import { serverImage, validatorImage } from '../../webhook/lib/version.ts';
import type { KubernetesObject } from '../kustomize.ts';

/** The images of this release, and the chart's helper that renders each. */
const images = new Map([
  [serverImage, 'cni-gate.image'],
  [validatorImage, 'cni-gate.validatorImage'],
]);

/** The configuration in the chart: that of the manifests, overridden by the value `configuration`. */
const configuration =
  '⟦text mergeOverwrite (include "cni-gate.configuration" . | fromYaml) .Values.configuration | toYaml⟧';

/** Copies an object with placeholders for images and configuration; kustomization.yaml adds all others. */
export function withPlaceholders(object: KubernetesObject): object {
  return JSON.parse(JSON.stringify(object), (key, value) => {
    if (key === 'config.yaml') return configuration;
    const helper = images.get(value);
    return helper === undefined ? value : `⟦scalar include "${helper}" . | quote⟧`;
  });
}

/** Converts a line of YAML to lines of a Go template: placeholders become actions, other double braces are escaped. */
export function templateLines(line: string): string[] {
  const [, indent = '', key = '', form, expression] = /^( *)(.*?)⟦(\w+) (.*)⟧/.exec(line) ?? [];
  if (form === undefined) return [line.replaceAll('{{', '{{ "{{" }}')];
  const inner = `nindent ${indent.length + 2} }}`;
  if (form === 'scalar') return [`${indent}${key}{{ ${expression} }}`];
  if (form === 'text') return [`${indent}${key}|`, `${indent}  {{- ${expression} | ${inner}`];
  const content =
    form === 'block'
      ? [`${indent}${key.trimEnd()}`, `${indent}  {{- toYaml . | ${inner}`]
      : [`${indent}{{- toYaml . | nindent ${indent.length} }}`];
  return [`${indent}{{- with ${expression} }}`, ...content, `${indent}{{- end }}`];
}
