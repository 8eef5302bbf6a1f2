import {
  createReadStream,
  type Dirent,
  existsSync,
  globSync,
  readdirSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { errnoOf, messageOf } from '../../lib/errors.ts';
import { type Fault, faultAt } from '../model.ts';
import { inMebi, mostInput } from './limits.ts';

/** The argument of `-f` for standard input. */
export const standardInput = '-';

/** The name of standard input in reports. */
export const standardInputName = 'stdin';

/** A text to review, and where it comes from. */
export interface Input {
  /** Its name for messages. */
  file: string;
  text: string;
  /** Its size in bytes. */
  size: number;
}

/** Whether a path is that of a manifest, by its name. */
export const isManifest = (path: string): boolean => /\.(?:ya?ml|json)$/.test(path);

/** Folders of tools, which contain no manifests. */
const toolFolders = new Set(['.git', '.github', '.idea', '.vscode', 'node_modules']);

const kustomizations = new Set(['kustomization.yaml', 'kustomization.yml', 'Kustomization']);

/**
 * The files that the arguments of `-f` name, in their order, each once: files, folders, globs, and `-`.
 *
 * @param skipped gets the paths that are skipped in folders
 * @returns paths, and faults for what is missing or may not be read
 */
export function expandInputs(names: readonly string[], skipped: string[] = []): (string | Fault)[] {
  const seen = new Set<string>();
  return names
    .flatMap((name) => expand(name, skipped))
    .filter((found) => {
      if (typeof found !== 'string') return true;
      const key = found === standardInput || !existsSync(found) ? found : realpathSync(found);
      if (seen.has(key)) return false;
      seen.add(key);
      return true;
    });
}

function expand(name: string, skipped: string[]): (string | Fault)[] {
  if (name === standardInput) return [name];
  try {
    return statSync(name).isDirectory() ? manifestsIn(name, skipped) : [name];
  } catch (error) {
    // an existing file takes precedence over a pattern
    const isPattern = errnoOf(error) === 'ENOENT' && /[*?[{]/.test(name);
    const matches = isPattern ? globSync(name).sort() : [];
    if (matches.length === 0) return [unreadable(name, isPattern ? 'no file matches' : messageOf(error))];
    return matches.flatMap((match) => expand(match, skipped));
  }
}

/**
 * The manifests in a folder and its subfolders, sorted by name. {@link toolFolders}, links to folders, files whose names
 * begin with a dot, and folders whose names begin with two (a mounted ConfigMap has every file a second time there) are
 * skipped. A folder with a kustomization is a fault: its files are not what is applied, and patches are no manifests.
 */
function manifestsIn(folder: string, skipped: string[]): (string | Fault)[] {
  const found = walk(folder, skipped);
  if (found.length > 0) return found;
  const ignored = [...toolFolders].join(', ');
  const why = `the folder contains no .yaml, .yml or .json file (skipped are: ${ignored}, and files that begin with a dot)`;
  return [unreadable(folder, why)];
}

function walk(folder: string, skipped: string[]): (string | Fault)[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(folder, { withFileTypes: true });
  } catch (error) {
    return [unreadable(folder, messageOf(error))];
  }
  if (entries.some(({ name }) => kustomizations.has(name))) {
    const message =
      'the folder has a kustomization, so its files are not read: review what it renders with -k, or with `kustomize build` and -f -';
    return [faultAt({ file: folder }, 'CNI_GATE_INPUT_KUSTOMIZE', message)];
  }
  return entries
    .filter(({ name }) => !name.startsWith('..'))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      const isTool = toolFolders.has(entry.name) || isLinkToFolder(entry, path);
      if (!isTool && entry.isDirectory()) return walk(path, skipped);
      if (!isTool && !isManifest(entry.name)) return [];
      if (!isTool && !entry.name.startsWith('.')) return [path];
      skipped.push(path);
      return [];
    });
}

/** A broken link is not a folder; if it has a manifest's name, reading it reports the error. */
const isLinkToFolder = (entry: Dirent, path: string): boolean =>
  entry.isSymbolicLink() && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/**
 * Reads a file, or standard input for `-`, as UTF-8 text without a byte order mark.
 *
 * @param max the maximum number of bytes
 */
export async function readInput(path: string, max: number): Promise<Input | Fault> {
  const file = path === standardInput ? standardInputName : path;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    // a pipe or another special file has no size
    for await (const chunk of path === standardInput ? process.stdin : createReadStream(path)) {
      const bytes = Buffer.from(chunk);
      size += bytes.length;
      if (size > max) {
        const message = `review accepts ${inMebi(mostInput())} of input in total: review fewer files at a time, or give Node more memory with NODE_OPTIONS=--max-old-space-size`;
        return faultAt({ file }, 'CNI_GATE_INPUT_TOO_LARGE', message);
      }
      chunks.push(bytes);
    }
  } catch (error) {
    return unreadable(file, messageOf(error));
  }
  const text = decodeText(Buffer.concat(chunks));
  if (text !== undefined && !text.includes('\0')) return { file, text, size };
  return unreadable(file, 'expected UTF-8 text, found other bytes: is it binary, or UTF-16?');
}

/** UTF-8 text without a byte order mark; undefined if the bytes are something else. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const unreadable = (file: string, message: string): Fault =>
  faultAt({ file }, 'CNI_GATE_INPUT_UNREADABLE', message);
