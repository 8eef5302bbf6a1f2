import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { CniGateError } from '../../lib/errors.ts';
import { isManifest } from '../input/folder.ts';
import { mostInput, mostObjects } from '../input/limits.ts';
import { decodeText } from '../input/read.ts';
import { runGit } from './git.ts';

/** The files of a Git revision. */
export interface Revision {
  /** The path of a file in the repository; undefined if it is elsewhere. */
  pathOf(file: string): string | undefined;
  /** Whether the revision has this text at a path. May be false for an equal text, and is never true for another. */
  has(path: string, text: string): boolean;
  /**
   * The texts that the revision has at some paths, and at the paths of manifests that exist no more: an object may have
   * moved from there.
   *
   * @throws CniGateError CNI_GATE_INPUT_TOO_LARGE
   */
  texts(paths: Iterable<string>): Promise<Map<string, string>>;
}

/** The maximum number of bytes of the list of a revision's files: about 600,000 of them. */
const mostPaths = 64 * 2 ** 20;
/** The same for a name of a commit or folder. */
const mostName = 64 * 1024;

/**
 * Opens the commit at which the current branch left a revision. Their latest common commit is used so that changes of
 * others, made on a main branch meanwhile, do not count. If the histories have none, such as in a shallow clone, it is
 * the revision itself.
 *
 * @param name a name of a commit, by the rules of gitrevisions(7)
 * @throws CniGateError CNI_GATE_GIT if the current folder is in no working tree, CNI_GATE_GIT_REVISION if there is no such
 *   commit
 */
export async function openRevision(name: string): Promise<Revision> {
  // otherwise an option of git; no revision begins with one
  if (name === '' || name.startsWith('-') || /[\0\n]/.test(name)) {
    throw new CniGateError('CNI_GATE_USAGE', `--changed-since: expected a revision, got "${name}"`);
  }
  const top = await oneLine(['rev-parse', '--show-toplevel']);
  if (top.text === undefined) {
    const message = `--changed-since needs the current folder to be in a working tree of Git: ${top.message}`;
    throw new CniGateError('CNI_GATE_GIT', message);
  }
  const given = await oneLine(['rev-parse', '--verify', '--quiet', `${name}^{commit}`]);
  if (given.text === undefined) {
    const message = `--changed-since: there is no commit "${name}": fetch it first (a shallow clone of CI has only the latest commit)`;
    throw new CniGateError('CNI_GATE_GIT_REVISION', message);
  }
  const common = await oneLine(['merge-base', given.text, 'HEAD']);
  const commit = common.text ?? given.text;
  return revisionOf(realpathSync(top.text), await filesOf(commit));
}

/** The one line that git prints, and why there is none. */
async function oneLine(args: readonly string[]): Promise<{ text?: string; message: string }> {
  const { status, stdout, message } = await runGit(args, { max: mostName });
  const text = stdout.toString().replace(/\n$/, '');
  return { ...(status === 0 && text !== '' && { text }), message };
}

/** The object names of all manifests of a commit, by path. */
async function filesOf(commit: string): Promise<Map<string, string>> {
  const { status, stdout, message } = await runGit(['ls-tree', '-r', '-z', '--full-tree', commit], {
    max: mostPaths,
  });
  if (status !== 0) throw new CniGateError('CNI_GATE_GIT', `git ls-tree: ${message}`);
  const files = new Map<string, string>();
  for (const entry of stdout.toString().split('\0')) {
    // `<mode> <type> <object>`, a tab and the path
    const tab = entry.indexOf('\t');
    const [mode, type, id] = entry.slice(0, Math.max(0, tab)).split(' ');
    const isLink = mode === '120000';
    if (type === 'blob' && !isLink && id !== undefined) files.set(entry.slice(tab + 1), id);
  }
  return files;
}

function revisionOf(top: string, files: ReadonlyMap<string, string>): Revision {
  return {
    pathOf(file) {
      const real = realPath(file);
      if (real === undefined) return undefined;
      const way = relative(top, real).split(sep).join('/');
      return way === '..' || way.startsWith('../') ? undefined : way;
    },
    has(path, text) {
      const id = files.get(path);
      return id !== undefined && id === blobName(text, id.length);
    },
    async texts(paths) {
      const gone = [...files.keys()].filter((path) => isManifest(path) && !existsSync(join(top, path)));
      // what moved is only found again, so some may be left out
      const wanted = new Map(
        [...paths, ...gone.slice(0, mostObjects())].flatMap((path) => {
          const id = files.get(path);
          return id === undefined ? [] : [[path, id] as const];
        }),
      );
      const texts = await blobs(new Set(wanted.values()));
      return new Map([...wanted].map(([path, id]) => [path, texts.get(id) ?? '']));
    },
  };
}

/** The path without links; undefined for a pipe, such as one of `<(command)`. */
function realPath(file: string): string | undefined {
  try {
    return realpathSync(file);
  } catch {
    return undefined;
  }
}

/** The name that Git gives to a text: SHA-1, or SHA-256 in repositories with longer names. */
function blobName(text: string, length: number): string {
  const bytes = Buffer.from(text);
  const hash = createHash(length === 40 ? 'sha1' : 'sha256');
  return hash.update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

/** The texts of blobs, by their names. What is no text is left out. */
async function blobs(ids: ReadonlySet<string>): Promise<Map<string, string>> {
  const texts = new Map<string, string>();
  if (ids.size === 0) return texts;
  const { status, stdout, message } = await runGit(['cat-file', '--batch'], {
    input: [...ids].map((id) => `${id}\n`).join(''),
    max: mostInput(),
  });
  if (status !== 0) throw new CniGateError('CNI_GATE_GIT', `git cat-file: ${message}`);
  // each is a line `<name> blob <bytes>`, the bytes and a newline, or a line `<name> missing`
  for (let at = 0; at < stdout.length; ) {
    const end = stdout.indexOf('\n', at);
    const [id = '', type, size] = stdout.toString('utf8', at, end).split(' ');
    at = end + 1;
    if (type !== 'blob') continue;
    const text = decodeText(stdout.subarray(at, at + Number(size)));
    if (text !== undefined) texts.set(id, text);
    at += Number(size) + 1;
  }
  return texts;
}
