import { realpathSync } from 'node:fs';
import { dirname, relative, sep } from 'node:path';
import { CniGateError } from '../../lib/errors.ts';
import { isManifest } from '../input/folder.ts';
import { mostInput } from '../input/limits.ts';
import { decodeText } from '../input/read.ts';
import { git } from './git.ts';

/** What differs between the files on disk and a Git revision. */
export interface Revision {
  /** Whether a file differs from the revision. What Git does not track may have changed, so it counts as different. */
  differs(file: string): boolean;
  /**
   * The earlier texts of the manifests that differ or exist no more, by their path in the repository.
   *
   * @param names the arguments of `-f`: files elsewhere are left out
   * @param files the files of the input
   */
  earlier(names: readonly string[], files: readonly string[]): AsyncGenerator<[path: string, text: string]>;
}

/** The maximum number of bytes of a list of files: about 600,000 of them. */
const mostPaths = 64 * 2 ** 20;

/**
 * Compares the files on disk with the commit at which the current branch left a revision. Their latest common commit is
 * used so that changes of others, made on a main branch meanwhile, do not count. If the histories have none, such as in
 * a shallow clone, it is the revision itself.
 *
 * @param name a name of a commit, by the rules of gitrevisions(7)
 * @throws CniGateError CNI_GATE_GIT if the current folder is in no working tree, CNI_GATE_GIT_REVISION if there is no such
 *   commit, CNI_GATE_INPUT_TOO_LARGE if the repository has too many files
 */
export async function compareWith(name: string): Promise<Revision> {
  // otherwise an option of git; no revision begins with one
  if (name === '' || name.startsWith('-') || /[\0\n]/.test(name)) {
    throw new CniGateError('CNI_GATE_USAGE', `--changed-since: expected a revision, got "${name}"`);
  }
  const found = await git(['rev-parse', '--show-toplevel'], mostPaths);
  if ('failure' in found) {
    const message = `--changed-since needs the current folder to be in a working tree of Git: ${found.failure}`;
    throw new CniGateError('CNI_GATE_GIT', message);
  }
  const top = realpathSync(lineOf(found.output));
  const given = await git(['rev-parse', '--verify', '--quiet', `${name}^{commit}`], mostPaths);
  if ('failure' in given) {
    const message = `--changed-since: there is no commit "${name}": fetch it first (a shallow clone of CI has only the latest commit)`;
    throw new CniGateError('CNI_GATE_GIT_REVISION', message);
  }
  const common = await git(['merge-base', lineOf(given.output), 'HEAD'], mostPaths);
  const commit = lineOf('output' in common ? common.output : given.output);
  const changed = await pathsOf(top, 'diff', '--name-only', '--no-renames', '--no-ext-diff', '-z', commit);
  const tracked = await pathsOf(top, 'ls-files', '-z');
  const pathOf = (file: string): string | undefined => {
    const real = realPath(file);
    return real === undefined ? undefined : relative(top, real).split(sep).join('/');
  };
  return {
    differs(file) {
      const path = pathOf(file);
      return path === undefined || changed.has(path) || !tracked.has(path);
    },
    async *earlier(names, files) {
      const inputs = new Set(files.map(pathOf));
      const roots = names.map((one) => pathOf(withoutWildcards(one)));
      const isInput = (path: string): boolean =>
        inputs.has(path) || roots.some((root) => root === '' || path.startsWith(`${root}/`) || path === root);
      for (const path of changed) {
        if (!isManifest(path) || !isInput(path)) continue;
        const shown = await git(['-C', top, 'show', `${commit}:${path}`], mostInput());
        // the revision may lack the file, or it was no text
        const text = 'output' in shown ? decodeText(shown.output) : undefined;
        if (text !== undefined) yield [path, text];
      }
    },
  };
}

const lineOf = (output: Buffer): string => output.toString().replace(/\n$/, '');

async function pathsOf(top: string, ...args: string[]): Promise<Set<string>> {
  const result = await git(['-C', top, ...args], mostPaths);
  if ('failure' in result) throw new CniGateError('CNI_GATE_GIT', `git ${args[0]}: ${result.failure}`);
  return new Set(result.output.toString().split('\0').filter(Boolean));
}

/** The folder of a glob up to its first wildcard. */
const withoutWildcards = (name: string): string =>
  /[*?[{]/.test(name) ? dirname(`${name.slice(0, name.search(/[*?[{]/))}x`) : name;

/** The path without links; undefined for a pipe, such as one of `<(command)`, and for what does not exist. */
function realPath(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}
