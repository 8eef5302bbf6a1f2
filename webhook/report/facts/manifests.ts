import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';

/** The manifests of this release: in the published bundle, and in the sources. */
const folder = ['./manifests/', '../../../manifests/base/']
  .map((path) => new URL(path, import.meta.url))
  .find((one) => existsSync(one));

// biome-ignore lint/suspicious/noExplicitAny: objects of many kinds, read by their paths
type Manifest = any;

/** The objects in a file of the manifests, by its name without `.yaml`. */
export const objectsIn = (file: string): Manifest[] =>
  parseAllDocuments(readFileSync(new URL(`${file}.yaml`, folder), 'utf8')).map((one) => one.toJS());

/** All objects of the manifests. */
export const allObjects = (): Manifest[] =>
  readdirSync(folder ?? '')
    .filter((file) => file.endsWith('.yaml') && file !== 'kustomization.yaml')
    .flatMap((file) => objectsIn(file.replace(/\.yaml$/, '')))
    .filter((object) => typeof object?.kind === 'string');
