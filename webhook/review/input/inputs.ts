import { globSync, realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { errnoOf } from '../../lib/errors.ts';
import type { Fault } from '../model.ts';
import { manifestsIn } from './folder.ts';
import { explain, unreadable } from './unreadable.ts';

/** The argument of `-f` for standard input. */
export const standardInput = '-';

/** The name of standard input in reports. */
export const standardInputName = 'stdin';

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
  const found = kindOf(name);
  // an existing file takes precedence over a pattern
  if (found === 'ENOENT' && /[*?[{]/.test(name)) {
    const matches = globSync(name).sort();
    return matches.length > 0
      ? matches.flatMap((match) => expandFound(match, skipped))
      : [unreadable(name, 'no file matches')];
  }
  return expandFound(name, skipped);
}

function expandFound(name: string, skipped: string[]): (string | Fault)[] {
  const found = kindOf(name);
  if (found === 'folder') return manifestsIn(name, skipped);
  return found === 'file' ? [name] : [unreadable(name, explain(found))];
}

function kindOf(name: string): string {
  try {
    return statSync(name).isDirectory() ? 'folder' : 'file';
  } catch (error) {
    return errnoOf(error) ?? 'it cannot be read';
  }
}

/** The path without links, by which a file that is linked is read once. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return resolve(path);
  }
}
