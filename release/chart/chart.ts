import { parse } from 'yaml';
import { idOf, type KubernetesObject, kustomize, objectsOf } from '../kustomize.ts';
import { defaults, options } from './options.ts';
import { objectTemplate } from './template.ts';
import { placeholders, withPlaceholders } from './values.ts';

/** A file of the chart: its name, and its text. */
export type File = [name: string, text: string];

const header = '# Generated from manifests/ by `npm run build:chart`. Do not edit.\n';

/** Generates the templates of the chart: one for each object of the kustomize manifests, and the default configuration. */
export async function templates(kubectl?: string): Promise<File[]> {
  const render = async (wanted: typeof defaults): Promise<KubernetesObject[]> =>
    objectsOf(await kustomize(wanted, kubectl)).filter(({ kind }) => kind !== 'Namespace');
  const base = await render(defaults);
  const rendered = await Promise.all(
    options.map(async ({ condition, kustomization }) => ({
      condition,
      objects: await render(kustomization),
    })),
  );
  const ids = new Set([base, ...rendered.map(({ objects }) => objects)].flat().map(idOf));
  const find = (objects: KubernetesObject[], id: string): KubernetesObject | undefined => {
    const found = objects.find((object) => idOf(object) === id);
    return found && withPlaceholders(found);
  };
  const files = [...ids].map((id): File => {
    const variations = rendered.map(({ condition, objects }) => ({ condition, object: find(objects, id) }));
    return [
      `${id.toLowerCase().replace('/', '-')}.yaml`,
      header + objectTemplate(find(base, id), variations, placeholders),
    ];
  });
  const configurations = rendered.map(({ condition, objects }) => ({
    condition,
    object: configurationIn(objects),
  }));
  const configuration = objectTemplate(configurationIn(base), configurations, []);
  return [
    ...files,
    ['_configuration.tpl', `{{- define "cni-gate.configuration" -}}\n${header}${configuration}{{- end }}\n`],
  ];
}

/** The configuration of cni-gate, which is text in its ConfigMap. */
function configurationIn(objects: KubernetesObject[]): object {
  const found = objects.find((object) => idOf(object) === 'ConfigMap/cni-gate');
  const data = found?.data as Record<string, string> | undefined;
  return parse(data?.['config.yaml'] ?? '');
}
