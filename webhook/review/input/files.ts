import { isUtf8 } from 'node:buffer';
import { createReadStream, globSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { systemText } from '../../lib/errors.ts';
import type { Fault } from '../model.ts';
import { inMebi, mostInput } from './documents.ts';

/** The argument of `-f` for standard input. */
export const standardInput = '-';

/** The name of standard input in reports. */
export const standardInputName = 'stdin';

/**
 * The files that the arguments of `-f` name, in order and without duplicates: files, folders, globs, and `-`.
 *
 * @returns paths, and faults for arguments that do not exist or may not be read
 */
export function expandInputs(names: readonly string[]): (string | Fault)[] {
  const seen = new Set<string>();
  return names.flatMap(expand).filter((found) => {
    return typeof found !== 'string' || seen.size < seen.add(resolve(found)).size;
  });
}

function expand(name: string): (string | Fault)[] {
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
 * The manifests in a folder and its subfolders, sorted by path, without `node_modules`, links to folders, and names
 * that begin with a dot. A folder with a kustomization is a fault, because its files are not applied as they are.
 */
function manifestsIn(folder: string): (string | Fault)[] {
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
    ...kustomized.filter(isRead).map((file) => ({
      code: 'CNI_GATE_INPUT_KUSTOMIZE' as const,
      message:
        'the folder has a kustomization, so its files are not read: review what `kubectl kustomize` renders with -f -',
      file,
    })),
  ];
  const why =
    'the folder contains no .yaml, .yml or .json file (skipped are node_modules and names that begin with a dot)';
  return found.length > 0 ? found : [unreadable(folder, why)];
}

/**
 * Reads a file, or standard input for `-`, as UTF-8 text without a byte order mark.
 *
 * @param max the maximum number of bytes
 */
export async function readInput(path: string, max: number): Promise<{ file: string; text: string } | Fault> {
  const file = path === standardInput ? standardInputName : path;
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    // bytes are counted while reading, because a pipe or special file has no known size
    for await (const chunk of path === standardInput ? process.stdin : createReadStream(path)) {
      const bytes = Buffer.from(chunk);
      size += bytes.length;
      if (size > max) {
        const message = `review accepts ${inMebi(mostInput())} of input in total: review fewer files at a time, or give Node more memory with NODE_OPTIONS=--max-old-space-size`;
        return { code: 'CNI_GATE_INPUT_TOO_LARGE', message, file };
      }
      chunks.push(bytes);
    }
  } catch (error) {
    return unreadable(file, systemText(error));
  }
  const bytes = Buffer.concat(chunks);
  if (isUtf8(bytes) && !bytes.includes(0)) return { file, text: new TextDecoder().decode(bytes) };
  return unreadable(file, 'expected UTF-8 text, found other bytes: is it binary, or UTF-16?');
}

const unreadable = (file: string, message: string): Fault => ({
  code: 'CNI_GATE_INPUT_UNREADABLE',
  message,
  file,
});
