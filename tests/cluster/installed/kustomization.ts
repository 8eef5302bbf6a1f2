import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const manifests = fileURLToPath(new URL('../../../manifests', import.meta.url));

/** What a kustomization of a user's own adds to the overlay `strict`. */
export interface OwnKustomization {
  /** Names of folders in manifests/components. */
  components: string[];
  /** Further fields, such as `patches` and `images`. */
  fields?: Record<string, unknown>;
  /** Names of folders in manifests/transformers. */
  transformers?: string[];
}

/**
 * Writes a kustomization as the install guide has it, in a folder that is not in the checkout.
 *
 * @returns the folder, as `kubectl apply -k` takes it
 */
export function ownKustomization({ components, fields = {}, transformers = [] }: OwnKustomization): string {
  const folder = join(mkdtempSync(join(tmpdir(), 'own-')), 'cluster');
  mkdirSync(folder);
  const from = (path: string): string => relative(folder, join(manifests, path));
  const kustomization = {
    apiVersion: 'kustomize.config.k8s.io/v1beta1',
    kind: 'Kustomization',
    resources: [from('overlays/strict')],
    components: components.map((name) => from(`components/${name}`)),
    transformers: transformers.map((name) => from(`transformers/${name}`)),
    ...fields,
  };
  writeFileSync(join(folder, 'kustomization.yaml'), JSON.stringify(kustomization));
  return folder;
}
