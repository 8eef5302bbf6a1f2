import { execFile } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { isDeepStrictEqual, promisify } from 'node:util';
import { clean } from '../lib/clean.ts';
import { CniGateError, messageOf } from '../lib/errors.ts';
import { readStream } from './input/documents.ts';
import { decodeText, isManifest } from './input/files.ts';
import { mostInput } from './input/limits.ts';
import type { ManifestReader, NamespaceObject } from './input/manifest-reader.ts';
import type { Finding, Report, Workload } from './model.ts';

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
 * @param revision a name of a commit, by the rules of gitrevisions(7)
 * @param now all objects of the input
 * @param earlier a reader for the objects as they were
 * @throws CniGateError CNI_GATE_GIT if the current folder is in no working tree, CNI_GATE_GIT_REVISION if there is no such
 *   commit
 */
export async function changesSince(
  revision: string,
  now: ManifestReader,
  earlier: ManifestReader,
): Promise<Changes> {
  const top = realpathSync(String(await git('rev-parse', '--show-toplevel')).trim());
  const given = await tried('rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`);
  if (given === undefined) {
    const message = `--changed-since: there is no commit "${revision}": fetch it first (a shallow clone of CI has only the latest commit)`;
    throw new CniGateError('CNI_GATE_GIT_REVISION', message);
  }
  const commit = String((await tried('merge-base', String(given).trim(), 'HEAD')) ?? given).trim();
  const pathsOf = async (...args: string[]): Promise<Set<string>> => {
    const paths = String(await git('-C', top, ...args, '-z'));
    return new Set(paths.split('\0').filter(Boolean));
  };
  const changed = await pathsOf('diff', '--name-only', '--no-renames', '--no-ext-diff', commit);
  const tracked = await pathsOf('ls-files');
  const differs = (file: string): boolean => {
    // a pipe, such as one of `<(command)`, and what does not exist
    if (!existsSync(file)) return true;
    const path = relative(top, realpathSync(file)).split(sep).join('/');
    return changed.has(path) || !tracked.has(path);
  };
  for (const path of [...changed].filter(isManifest)) {
    // the revision may lack the file, or it was no text
    const text = decodeText((await tried('show', `${commit}:${path}`)) ?? Buffer.of()) ?? '';
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

const execute = promisify(execFile);

/**
 * What git prints. It runs without programs that the repository's configuration names, and without questions for a
 * password.
 *
 * @throws CniGateError CNI_GATE_GIT
 */
async function git(...args: string[]): Promise<Buffer> {
  const quiet = { GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' };
  try {
    const { stdout } = await execute('git', ['-c', 'core.fsmonitor=false', ...args], {
      timeout: 120_000,
      maxBuffer: mostInput(),
      killSignal: 'SIGKILL',
      encoding: 'buffer',
      env: { ...process.env, ...quiet },
    });
    return stdout;
  } catch (error) {
    const said = String((error as { stderr?: Buffer }).stderr ?? '').trim() || messageOf(error);
    const message = `--changed-since needs git, and the current folder to be in a working tree: ${clean(said.replaceAll(/\s+/g, ' ')).slice(-300)}`;
    throw new CniGateError('CNI_GATE_GIT', message);
  }
}

/** What git prints, or undefined if it fails. */
const tried = (...args: string[]): Promise<Buffer | undefined> => git(...args).catch(() => undefined);
