import { realpathSync } from 'node:fs';
import { dirname, relative, sep } from 'node:path';
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
  const top = realpathSync(lineOf(await git('rev-parse', '--show-toplevel')));
  const given = await tryGit('rev-parse', '--verify', '--quiet', `${name}^{commit}`);
  if (!('output' in given)) {
    const message = `--changed-since: there is no commit "${name}": fetch it first (a shallow clone of CI has only the latest commit)`;
    throw new CniGateError('CNI_GATE_GIT_REVISION', message);
  }
  const common = await tryGit('merge-base', lineOf(given.output), 'HEAD');
  const commit = lineOf('output' in common ? common.output : given.output);
  const differences = ['diff', '--name-only', '--no-renames', '--no-ext-diff', '-z', commit];
  return {
    top,
    commit,
    changed: pathsOf(await git('-C', top, ...differences)),
    tracked: pathsOf(await git('-C', top, 'ls-files', '-z')),
  };
}

/**
 * What changed in the input since a revision.
 *
 * @param names the arguments of `-f`: files elsewhere are left out
 * @param now all objects of the input
 * @param newReader makes a reader for the earlier objects
 */
export async function changesSince(
  { top, commit, changed, tracked }: Revision,
  names: readonly string[],
  now: ManifestReader,
  newReader: () => ManifestReader,
): Promise<Changes> {
  const pathOf = (file: string): string | undefined => {
    const real = realPath(file);
    return real === undefined ? undefined : relative(top, real).split(sep).join('/');
  };
  const differs = (file: string): boolean => {
    const path = pathOf(file);
    return path === undefined || changed.has(path) || !tracked.has(path);
  };
  const roots = names.map((name) => pathOf(withoutWildcards(name)));
  const isInput = (path: string): boolean =>
    roots.some((root) => root === '' || path === root || path.startsWith(`${root}/`));
  const earlier = newReader();
  for (const path of [...changed].filter((one) => isManifest(one) && isInput(one))) {
    const shown = await tryGit('-C', top, 'show', `${commit}:${path}`);
    // the revision may lack the file, or it was no text
    const text = 'output' in shown ? (decodeText(shown.output) ?? '') : '';
    for (const read of readStream(path, text)) if (!('code' in read)) earlier.take(read);
  }
  const before = earlier.namespaces;
  const namespaces = new Set(
    [...new Set([...before.keys(), ...now.namespaces.keys()])].filter((name) =>
      isChanged(before.get(name), now.namespaces.get(name), differs),
    ),
  );
  const inChanged = now.workloads.filter(({ document }) => differs(document.file));
  const touched = [...inChanged, ...earlier.workloads].map(({ namespace }) => namespace);
  return { differs, namespaces, touched: new Set([...namespaces, ...touched]), before };
}

function isChanged(
  before: NamespaceObject | undefined,
  now: NamespaceObject | undefined,
  differs: (file: string) => boolean,
): boolean {
  if (before === undefined) return now !== undefined && differs(now.file);
  return now === undefined || labelsAndAnnotations(now) !== labelsAndAnnotations(before);
}

const labelsAndAnnotations = ({ labels, annotations }: NamespaceObject): string =>
  JSON.stringify([labels, annotations].map((map) => Object.entries(map).toSorted()));

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

/** Runs git. @throws CniGateError CNI_GATE_GIT if it cannot be started or does not end */
async function tryGit(...args: string[]): Promise<Ended> {
  // a hook of core.fsmonitor would be a program that the repository's configuration names
  const options = ['-c', 'core.fsmonitor=false'];
  // a question for a password would wait for ever, and messages are shown as they are
  const env = { GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' };
  const ended = await run('git', [...options, ...args], mostInput(), env);
  if ('output' in ended || typeof ended.code === 'number') return ended;
  throw new CniGateError('CNI_GATE_GIT', `--changed-since needs git: ${ended.failure}`);
}

/** @throws CniGateError CNI_GATE_GIT also if it fails */
async function git(...args: string[]): Promise<Buffer> {
  const ended = await tryGit(...args);
  if ('output' in ended) return ended.output;
  const message = `--changed-since needs the current folder to be in a working tree of Git: ${ended.failure}`;
  throw new CniGateError('CNI_GATE_GIT', message);
}

const lineOf = (output: Buffer): string => output.toString().replace(/\n$/, '');

const pathsOf = (output: Buffer): Set<string> => new Set(output.toString().split('\0').filter(Boolean));

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
