import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { run } from '../../support/run.ts';

/*
 * The sources of the release before this one: what its server is, and what its manifests install. They are in the
 * checkout, because CI may clone without history, and no package registry has an earlier release yet.
 */

const folder = fileURLToPath(new URL('./', import.meta.url));

/** What a server and an installation need. */
export const paths = ['certs', 'manifests', 'package.json', 'validator', 'webhook'];

const ending = '.tar.br';

/** The commit whose sources are in the checkout. */
export function pinnedCommit(): string {
  const [name = '', ...others] = readdirSync(folder).filter((file) => file.endsWith(ending));
  if (name === '' || others.length > 0) throw new Error(`${folder} needs exactly one *${ending}: see pin.ts`);
  return name.slice(0, -ending.length);
}

/** Where the sources of a commit are kept. */
export const archivePath = (commit: string): string => join(folder, `${commit}${ending}`);

/** Unpacks the sources: the folder, as a checkout without packages. */
export async function unpackPrevious(): Promise<string> {
  const to = await mkdtemp(join(tmpdir(), 'previous-'));
  execFileSync('tar', ['-C', to, '-x'], {
    input: brotliDecompressSync(readFileSync(archivePath(pinnedCommit()))),
  });
  // this checkout's are mounted there
  await mkdir(join(to, 'node_modules'));
  // a replica is another user
  await run('chmod', ['-R', 'a+rX', to]);
  return to;
}

/** Git's names of the contents of a commit's files, by path, from the history of this clone. */
export function filesOf(commit: string): Map<string, string> {
  const lines = git('ls-tree', '-r', commit, '--', ...paths)
    .toString()
    .trimEnd()
    .split('\n');
  // 100644 blob NAME<tab>PATH
  return new Map(
    lines.map((line): [string, string] => {
      const [entry = '', path = ''] = line.split('\t');
      return [path, entry.split(' ').at(-1) ?? ''];
    }),
  );
}

/** The sources of a commit as tar, from the history of this clone. */
export const archiveOf = (commit: string): Buffer => git('archive', '--format=tar', commit, '--', ...paths);

const git = (...args: string[]): Buffer =>
  execFileSync('git', args, {
    cwd: fileURLToPath(new URL('../../../', import.meta.url)),
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
