import {
  createReadStream,
  type Dirent,
  existsSync,
  globSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { basename, dirname, join, sep } from 'node:path';
import { systemText } from '../../lib/errors.ts';
import { type Fault, type Finding, faultAt } from '../model.ts';
import { inMebi, mostInput } from './documents.ts';

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
const isManifest = (path: string): boolean => /\.(?:ya?ml|json)$/.test(path);

/**
 * The files that the arguments of `-f` name, in their order, each once: files, folders, globs, and `-`.
 *
 * @returns paths, faults for what is missing or may not be read, and findings for manifests that are not read
 */
export function expandInputs(names: readonly string[]): (string | Fault | Finding)[] {
  const seen = new Set<string>();
  return names.flatMap(expand).filter((found) => {
    if (typeof found !== 'string') return true;
    return seen.size < seen.add(existsSync(found) ? realpathSync(found) : found).size;
  });
}

function expand(name: string): (string | Fault | Finding)[] {
  if (name === standardInput) return [name];
  try {
    return statSync(name).isDirectory() ? manifestsIn(name) : [name];
  } catch (error) {
    // an existing file takes precedence over a pattern
    const isGlob = /[*?[{]/.test(name);
    const matches = isGlob ? globSync(name).filter((match) => match !== name) : [];
    if (matches.length === 0) return [unreadable(name, isGlob ? 'no file matches' : systemText(error))];
    return matches.toSorted().flatMap(expand);
  }
}

/**
 * The manifests in a folder and its subfolders, sorted by path. `node_modules`, links to folders, and names that begin
 * with a dot are skipped, which is a finding if manifests are among them. A folder with a kustomization is a fault: its files are not what is applied, and patches are no
 * manifests.
 */
function manifestsIn(folder: string): (string | Fault | Finding)[] {
  const matching = (pattern: string): string[] => {
    const options = { cwd: folder, exclude: (path: string) => basename(path) === 'node_modules' };
    return globSync(`**/${pattern}`, options)
      .toSorted()
      .map((path) => join(folder, path));
  };
  const kustomized = matching('{kustomization.yaml,kustomization.yml,Kustomization}').map(dirname);
  const isRead = (path: string): boolean =>
    !kustomized.some((kustomization) => path.startsWith(`${kustomization}${sep}`));
  const found = [
    ...matching('*.{yaml,yml,json}').filter(isRead),
    ...kustomized.filter(isRead).map((file) => {
      const message =
        'the folder has a kustomization, so its files are not read: review what `kubectl kustomize` renders with -f -';
      return faultAt({ file }, 'CNI_GATE_INPUT_KUSTOMIZE', message);
    }),
  ];
  const why =
    'the folder contains no .yaml, .yml or .json file (skipped are node_modules and names that begin with a dot)';
  const skipped = skippedIn(folder);
  return found.length > 0 || skipped.length > 0 ? [...found, ...skipped] : [unreadable(folder, why)];
}

/** What is skipped in a folder and its subfolders although it contains manifests, without `node_modules` and `.git`. */
function skippedIn(folder: string): Finding[] {
  return entriesOf(folder).flatMap((entry): Finding[] => {
    const file = join(folder, entry.name);
    if (ignored.has(entry.name)) return [];
    const isHidden = entry.name.startsWith('.');
    const isLink = entry.isSymbolicLink() && statSync(file, { throwIfNoEntry: false })?.isDirectory();
    if (!isHidden && !isLink) return entry.isDirectory() ? skippedIn(file) : [];
    if (!holdsManifest(file, 0)) return [];
    const why = isHidden ? 'its name begins with a dot' : 'it is a link to a folder';
    const message = `is not read, because ${why}, and contains manifests: name it with -f as well`;
    return [{ code: 'CNI_GATE_INPUT_SKIPPED', subject: file, file, message }];
  });
}

const ignored: ReadonlySet<string> = new Set(['node_modules', '.git']);

/** Folders below one that is skipped in which manifests are sought: a link may lead to a folder around it. */
const deepest = 8;

function holdsManifest(path: string, depth: number): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory() && depth < deepest)
    return entriesOf(path).some(
      ({ name }) => !ignored.has(name) && holdsManifest(join(path, name), depth + 1),
    );
  if (!stats?.isFile() || !isManifest(path) || stats.size > mostInput()) return false;
  const text = readFileSync(path, 'utf8');
  return ['apiVersion', 'kind'].every((key) => new RegExp(`\\b${key}"?:`).test(text));
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).toSorted((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    // a folder that may not be read is reported where its files are sought
    return [];
  }
}

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
    return unreadable(file, systemText(error));
  }
  const text = decodeText(Buffer.concat(chunks));
  if (text !== undefined && !text.includes('\0')) return { file, text, size };
  return unreadable(file, 'expected UTF-8 text, found other bytes: is it binary, or UTF-16?');
}

/** UTF-8 text without a byte order mark; undefined if the bytes are something else. */
function decodeText(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const unreadable = (file: string, message: string): Fault =>
  faultAt({ file }, 'CNI_GATE_INPUT_UNREADABLE', message);
