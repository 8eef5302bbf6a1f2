import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { parse } from 'yaml';
import configurationSchema from '../../webhook/config/configuration.schema.json' with { type: 'json' };
import { idOf, type KubernetesObject, type Kustomization, kustomize, objectsOf } from '../kustomize.ts';
import { objectTemplate } from './template.ts';
import valuesOnly from './values.schema.json' with { type: 'json' };
import { withPlaceholders } from './values.ts';

/** An option of the chart: its condition as a Go template expression, and the kustomization with the same effect. */
interface Option {
  condition: string;
  kustomization: Kustomization;
}

/** The kustomization for `mode: strict` with all other options off. */
const defaults: Kustomization = { overlay: 'strict' };

const component = (name: string, condition: string): Option => ({
  condition,
  kustomization: { overlay: 'strict', components: [name] },
});

/** All options of the chart. Each is rendered alone, and compared with the defaults; the chart combines them. */
const options: Option[] = [
  { condition: 'eq .Values.mode "permissive"', kustomization: { overlay: 'permissive' } },
  component('files', 'ne .Values.certificates "secret"'),
  component('cert-manager', 'eq .Values.certificates "cert-manager"'),
  component('host-network', '.Values.hostNetwork'),
  component('monitoring', '.Values.monitoring.enabled'),
  component('grafana-dashboard', '.Values.grafanaDashboard.enabled'),
  component('network-policy', '.Values.networkPolicy.enabled'),
  component('policies', 'ne (include "cni-gate.policies" .) "off"'),
  component('proof-only', 'eq (include "cni-gate.policies" .) "only"'),
  component('no-opt-out', 'not (dig "proof" "allowOptOut" true .Values.configuration)'),
];

/** A file of the chart: its name, and its text. */
export type File = [name: string, text: string];

const header = '# Generated from manifests/ by `npm run generate`. Do not edit.\n';

/** Generates the chart's templates: one for each object of the manifests, and one for the configuration. */
export async function templates(kubectl?: string): Promise<File[]> {
  const render = async ({ components = [], ...wanted }: Kustomization): Promise<KubernetesObject[]> => {
    const kustomization = { ...wanted, components: [...components, '../../release/chart/values'] };
    return objectsOf(await kustomize(kustomization, kubectl)).filter(({ kind }) => kind !== 'Namespace');
  };
  const [base = [], ...chosen] = await Promise.all(
    [defaults, ...options.map(({ kustomization }) => kustomization)].map(render),
  );
  /** Combines the renderings of an object, or of a part of it, into a template. */
  const template = (find: (objects: KubernetesObject[]) => object | undefined): string => {
    const variations = options.map(({ condition }, at) => ({ condition, object: find(chosen[at] ?? []) }));
    return header + objectTemplate(find(base), variations);
  };
  const ids = new Set([base, ...chosen].flat().map(idOf));
  const files = [...ids].map((id): File => {
    const find = (objects: KubernetesObject[]) => objects.find((object) => idOf(object) === id);
    const text = template((objects) => {
      const found = find(objects);
      return found && withPlaceholders(found);
    });
    // the value `policyObjects` may replace the mutating policy; other optional objects belong to the server
    const condition = id.startsWith('MutatingAdmissionPolicy')
      ? 'not .Values.policyObjects'
      : 'ne (include "cni-gate.policies" .) "only"';
    const whole = find(base) === undefined ? `{{- if ${condition} }}\n${text}{{- end }}\n` : text;
    return [`${id.toLowerCase().replace('/', '-')}.yaml`, whole];
  });
  const configuration = `{{- define "cni-gate.configuration" -}}\n${template(configurationIn)}{{- end }}\n`;
  return [...files, ['_configuration.tpl', configuration]];
}

/** The configuration of cni-gate, parsed from the text in its ConfigMap. */
function configurationIn(objects: KubernetesObject[]): object {
  const found = objects.find((object) => idOf(object) === 'ConfigMap/cni-gate');
  const data = found?.data as Record<string, string> | undefined;
  return parse(data?.['config.yaml'] ?? '');
}

/**
 * The JSON Schema of the chart's values, including the configuration's schema. Values contain only what differs from
 * the defaults, so no field is required. Helm supports no lookahead, so patterns with lookahead are left out.
 */
export function valuesSchema(): string {
  const { $schema: _schema, $id: _id, required: _required, definitions, ...part } = configurationSchema;
  const properties = { ...valuesOnly.properties, configuration: part };
  const withoutLookahead = (key: string, value: unknown): unknown =>
    key === 'pattern' && typeof value === 'string' && value.includes('(?') ? undefined : value;
  const all = { ...valuesOnly.definitions, ...definitions };
  return `${JSON.stringify({ ...valuesOnly, properties, definitions: all }, withoutLookahead, 2)}\n`;
}

// npm run generate: writes the generated part of the chart
if (import.meta.main) {
  const chart = new URL('../../charts/cni-gate/', import.meta.url);
  const folder = new URL('templates/generated/', chart);
  const files = await templates();
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  for (const [name, text] of files) writeFileSync(new URL(name, folder), text);
  writeFileSync(new URL('values.schema.json', chart), valuesSchema());
}
