import { existsSync, realpathSync } from 'node:fs';
import { dirname, relative, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { CniGateError } from '../lib/errors.ts';
import { readStream } from './input/documents.ts';
import { decodeText, isManifest } from './input/files.ts';
import { mostInput } from './input/limits.ts';
import type { ManifestReader } from './input/manifest-reader.ts';
import type { NamespaceObject } from './input/namespace.ts';
import { type Ended, run } from './input/program.ts';
import type { Finding, Report, Workload } from './model.ts';

/** A Git revision beside the files on disk. */
export interface Revision {
  /** The folder of the working tree. */
  top: string;
  commit: string;
  /** Paths of files that differ. */
  changed: ReadonlySet<string>;
  /** Paths of files that Git tracks. */
  tracked: ReadonlySet<string>;
}

/** What changed since a revision. */
export interface Changes {
  /** Whether a file differs. What Git does not track may have changed, so it counts as different. */
  differs(file: string): boolean;
  /** Namespaces whose labels or annotations are others: these choose the checks of their workloads. */
  namespaces: ReadonlySet<string>;
  /** Those Namespaces, and namespaces with a workload in a file that differs or exists no more. */
  touched: ReadonlySet<string>;
  /** The Namespaces of the files that differ, as they were. */
  before: ReadonlyMap<string, NamespaceObject>;
}

/**
 * Compares the files on disk with the commit at which the current branch left a revision. Their latest common commit is
 * used so that changes of others, made on a main branch meanwhile, do not count. If the histories have none, such as in
 * a shallow clone, it is the revision itself.
 *
 * @param name a name of a commit, by the rules of gitrevisions(7)
 * @throws CniGateError CNI_GATE_GIT if the current folder is in no working tree, CNI_GATE_GIT_REVISION if there is no such
 *   commit
 */
export async function compareWith(name: string): Promise<Revision> {
  // otherwise an option of git; no revision begins with one
  if (name === '' || name.startsWith('-') || /[\0\n]/.test(name)) {
    throw new CniGateError('CNI_GATE_USAGE', `--changed-since: expected a revision, got "${name}"`);
  }
  const top = realpathSync((await git('rev-parse', '--show-toplevel')).trim());
  const given = await tryGit('rev-parse', '--verify', '--quiet', `${name}^{commit}`);
  if (given === undefined) {
    const message = `--changed-since: there is no commit "${name}": fetch it first (a shallow clone of CI has only the latest commit)`;
    throw new CniGateError('CNI_GATE_GIT_REVISION', message);
  }
  const common = await tryGit('merge-base', given.toString().trim(), 'HEAD');
  const commit = (common ?? given).toString().trim();
  const pathsOf = async (...args: string[]): Promise<Set<string>> =>
    new Set((await git('-C', top, ...args, '-z')).split('\0').filter(Boolean));
  return {
    top,
    commit,
    changed: await pathsOf('diff', '--name-only', '--no-renames', '--no-ext-diff', commit),
    tracked: await pathsOf('ls-files'),
  };
}

/**
 * What changed in the input since a revision.
 *
 * @param names the arguments of `-f`: files elsewhere are left out
 * @param now all objects of the input
 * @param earlier a reader for the objects as they were
 */
export async function changesSince(
  { top, commit, changed, tracked }: Revision,
  names: readonly string[],
  now: ManifestReader,
  earlier: ManifestReader,
): Promise<Changes> {
  // undefined for a pipe, such as one of `<(command)`, and for what does not exist
  const pathOf = (file: string): string | undefined =>
    existsSync(file) ? relative(top, realpathSync(file)).split(sep).join('/') : undefined;
  const differs = (file: string): boolean => {
    const path = pathOf(file);
    return path === undefined || changed.has(path) || !tracked.has(path);
  };
  const roots = names.map((name) => pathOf(withoutWildcards(name)));
  const isInput = (path: string): boolean =>
    roots.some((root) => root === '' || path === root || path.startsWith(`${root}/`));
  for (const path of [...changed].filter((one) => isManifest(one) && isInput(one))) {
    const shown = await tryGit('-C', top, 'show', `${commit}:${path}`);
    // the revision may lack the file, or it was no text
    const text = decodeText(shown ?? Buffer.of()) ?? '';
    for (const read of readStream(path, text)) if (!('code' in read)) earlier.take(read);
  }
  const before = earlier.namespaces;
  const namespaces = new Set(
    [...before.keys(), ...now.namespaces.keys()].filter((name) => {
      const [old, current] = [before.get(name), now.namespaces.get(name)];
      if (old === undefined) return current !== undefined && differs(current.file);
      return current === undefined || !haveSameMaps(old, current);
    }),
  );
  const inChanged = now.workloads.filter(({ document }) => differs(document.file));
  const touched = [...inChanged, ...earlier.workloads].map(({ namespace }) => namespace);
  return { differs, namespaces, touched: new Set([...namespaces, ...touched]), before };
}

const haveSameMaps = (one: NamespaceObject, other: NamespaceObject): boolean =>
  isDeepStrictEqual([one.labels, one.annotations], [other.labels, other.annotations]);

/**
 * A report with what changed, for which everything was reviewed: whether a namespace has a check depends on all its
 * workloads. Input that cannot be read stays, because nothing is known about its content.
 */
export function onlyChanged(report: Report, { differs, namespaces, touched }: Changes): Report {
  const isReported = ({ document, namespace }: Workload): boolean =>
    differs(document.file) || namespaces.has(namespace);
  const isAffected = ({ workload, namespace, file }: Finding): boolean => {
    if (workload !== undefined) return isReported(workload);
    return differs(file) || (namespace === undefined ? touched.size > 0 : touched.has(namespace));
  };
  const reviewed = report.reviewed.filter(({ workload }) => isReported(workload));
  const findings = report.findings.filter(isAffected);
  const files = new Set([
    ...reviewed.map(({ workload }) => workload.document.file),
    ...[...findings, ...report.faults].map(({ file }) => file),
  ]);
  return {
    ...report,
    documents: report.documents.filter(({ file }) => files.has(file)),
    reviewed,
    findings,
    unchanged: report.reviewed.length - reviewed.length,
  };
}

/** What git prints; undefined if it fails. @throws CniGateError CNI_GATE_GIT if it cannot be started or does not end */
async function tryGit(...args: string[]): Promise<Buffer | undefined> {
  const ended = await runGit(args);
  return 'output' in ended ? ended.output : undefined;
}

/** @throws CniGateError CNI_GATE_GIT also if it fails */
async function git(...args: string[]): Promise<string> {
  const ended = await runGit(args);
  if ('output' in ended) return ended.output.toString();
  const message = `--changed-since needs the current folder to be in a working tree of Git: ${ended.failure}`;
  throw new CniGateError('CNI_GATE_GIT', message);
}

async function runGit(args: readonly string[]): Promise<Ended> {
  // a hook of core.fsmonitor would be a program that the repository's configuration names
  const options = ['-c', 'core.fsmonitor=false'];
  // a question for a password would wait for ever, and messages are shown as they are
  const env = { GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' };
  const ended = await run('git', [...options, ...args], mostInput(), env);
  if ('output' in ended || typeof ended.code === 'number') return ended;
  throw new CniGateError('CNI_GATE_GIT', `--changed-since needs git: ${ended.failure}`);
}

/** The folder of a glob up to its first wildcard. */
const withoutWildcards = (name: string): string =>
  /[*?[{]/.test(name) ? dirname(`${name.slice(0, name.search(/[*?[{]/))}x`) : name;
