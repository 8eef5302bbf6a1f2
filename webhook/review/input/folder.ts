import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf, messageOf } from '../../lib/errors.ts';
import { type Fault, faultAt } from '../model.ts';
import { explain, unreadable } from './unreadable.ts';

const manifest = /\.(?:ya?ml|json)$/;

/** Whether a path is that of a manifest, by its name. */
export const isManifest = (path: string): boolean => manifest.test(path);

/** Folders of tools, which contain no manifests. */
const toolFolders = new Set(['.git', '.github', '.idea', '.vscode', 'node_modules']);

const kustomizations = new Set(['kustomization.yaml', 'kustomization.yml', 'Kustomization']);

/**
 * The manifests in a folder and its subfolders, sorted by name: `.yaml`, `.yml`, `.json`. {@link toolFolders},
 * files whose names begin with a dot, and folders whose names begin with two (a mounted ConfigMap has every file a
 * second time there) are skipped. A folder with a kustomization is a fault: its files are not what is applied, and
 * patches are no manifests.
 *
 * @param skipped gets the paths of skipped folders, and of skipped files that have a manifest's name
 */
export function manifestsIn(folder: string, skipped: string[]): (string | Fault)[] {
  const found = walk(folder, new Set(), skipped);
  return found.length > 0
    ? found
    : [
        unreadable(
          folder,
          `the folder contains no .yaml, .yml or .json file (skipped are: ${[...toolFolders].join(', ')}, and files that begin with a dot)`,
        ),
      ];
}

/** @param around the real paths of the parent folders */
function walk(folder: string, around: ReadonlySet<string>, skipped: string[]): (string | Fault)[] {
  let entries: Dirent[];
  let real: string;
  try {
    real = realpathSync(folder);
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    return [unreadable(folder, explain(errnoOf(error) ?? messageOf(error)))];
  }
  if (around.has(real)) return [unreadable(folder, `the folder contains itself: it is a link to ${real}`)];
  if (entries.some(({ name }) => kustomizations.has(name))) return [notRendered(folder)];
  const inside = new Set([...around, real]);
  return entries
    .filter(({ name }) => !name.startsWith('..'))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      const isDirectory = isFolder(entry, path);
      if (!isDirectory && !isManifest(entry.name)) return [];
      if (isDirectory ? toolFolders.has(entry.name) : entry.name.startsWith('.')) {
        skipped.push(path);
        return [];
      }
      return isDirectory ? walk(path, inside, skipped) : [path];
    });
}

const notRendered = (folder: string): Fault =>
  faultAt(
    { file: folder },
    'CNI_GATE_INPUT_KUSTOMIZE',
    'the folder has a kustomization, so its files are not read: review what it renders with -k, or with `kustomize build` and -f -',
  );

/** A broken link is not a folder; if it has a manifest's name, reading it reports the error. */
function isFolder(entry: Dirent, path: string): boolean {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
