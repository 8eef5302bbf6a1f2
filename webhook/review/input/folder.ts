import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { errnoOf, messageOf } from '../../lib/errors.ts';
import type { Fault } from '../model.ts';
import { explain, unreadable } from './unreadable.ts';

const manifest = /\.(?:ya?ml|json)$/;

/** Whether a path is that of a manifest, by its name. */
export const isManifest = (path: string): boolean => manifest.test(path);

/**
 * The manifests in a folder and its subfolders, sorted by name: `.yaml`, `.yml`, `.json`. Names that begin with a dot
 * are skipped, because a mounted ConfigMap has every file a second time there, and so is `node_modules`.
 */
export function manifestsIn(folder: string): (string | Fault)[] {
  const found = walk(folder, new Set());
  return found.length > 0 ? found : [unreadable(folder, 'the folder contains no .yaml, .yml or .json file')];
}

/** @param around the real paths of the parent folders */
function walk(folder: string, around: ReadonlySet<string>): (string | Fault)[] {
  let entries: Dirent[];
  let real: string;
  try {
    real = realpathSync(folder);
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    return [unreadable(folder, explain(errnoOf(error) ?? messageOf(error)))];
  }
  if (around.has(real)) return [unreadable(folder, `the folder contains itself: it is a link to ${real}`)];
  const inside = new Set([...around, real]);
  return entries
    .filter(({ name }) => !name.startsWith('.') && name !== 'node_modules')
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (isFolder(entry, path)) return walk(path, inside);
      return isManifest(entry.name) ? [path] : [];
    });
}

/** A broken link is not a folder; if it has a manifest's name, reading it reports the error. */
function isFolder(entry: Dirent, path: string): boolean {
  if (!entry.isSymbolicLink()) return entry.isDirectory();
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
