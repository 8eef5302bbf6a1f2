import { createReadStream, type Dirent, globSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { errnoOf, messageOf } from '../../lib/errors.ts';
import { type Fault, faultAt } from '../model.ts';
import { tooMuchInput } from './limits.ts';

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
      const key = found === standardInput ? found : realPath(found);
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
    if (errnoOf(error) !== 'ENOENT' || !/[*?[{]/.test(name)) return [unreadable(name, error)];
    const matches = globSync(name).sort();
    if (matches.length === 0) return [unreadable(name, 'no file matches')];
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
    return [unreadable(folder, error)];
  }
  if (entries.some(({ name }) => kustomizations.has(name))) return [notRendered(folder)];
  return entries
    .filter(({ name }) => !name.startsWith('..'))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      const isSkipped = toolFolders.has(entry.name) || isLinkToFolder(entry, path);
      if (entry.isDirectory() && !isSkipped) return walk(path, skipped);
      if (!isSkipped && !isManifest(entry.name)) return [];
      if (!isSkipped && !entry.name.startsWith('.')) return [path];
      skipped.push(path);
      return [];
    });
}

/** A broken link is not a folder; if it has a manifest's name, reading it reports the error. */
const isLinkToFolder = (entry: Dirent, path: string): boolean =>
  entry.isSymbolicLink() && statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

const notRendered = (folder: string): Fault =>
  faultAt(
    { file: folder },
    'CNI_GATE_INPUT_KUSTOMIZE',
    'the folder has a kustomization, so its files are not read: review what it renders with -k, or with `kustomize build` and -f -',
  );

/** The path without links, by which a file that is linked is read once. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}

/**
 * Reads a file, or standard input for `-`, as UTF-8 text without a byte order mark.
 *
 * @param max the maximum number of bytes
 */
export async function readInput(path: string, max: number): Promise<Input | Fault> {
  const file = path === standardInput ? standardInputName : path;
  try {
    // a pipe or another special file has no size
    const bytes = await readUpTo(path === standardInput ? process.stdin : createReadStream(path), max);
    if (bytes === undefined) return faultAt({ file }, 'CNI_GATE_INPUT_TOO_LARGE', tooMuchInput());
    const text = decodeText(bytes);
    if (text !== undefined && !text.includes('\0')) return { file, text, size: bytes.length };
    return unreadable(file, 'expected UTF-8 text, found other bytes: is it binary, or UTF-16?');
  } catch (error) {
    return unreadable(file, error);
  }
}

/** Undefined if there is more. */
async function readUpTo(stream: NodeJS.ReadableStream, max: number): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    size += bytes.length;
    if (size > max) return undefined;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}

/** UTF-8 text without a byte order mark; undefined if the bytes are something else. */
export function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const explanations: Record<string, string> = {
  ENOENT: 'no such file or folder',
  EACCES: 'it may not be read',
  ELOOP: 'its symbolic links lead in a circle',
};

/** The fault of an input that cannot be read, by an error or a text. */
function unreadable(file: string, why: unknown): Fault {
  const message =
    typeof why === 'string' ? why : (explanations[errnoOf(why) ?? ''] ?? errnoOf(why) ?? messageOf(why));
  return faultAt({ file }, 'CNI_GATE_INPUT_UNREADABLE', message);
}
