import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../../support/run.ts';

/** What a server and an installation need. */
const paths = ['certs', 'manifests', 'package.json', 'validator', 'webhook'];

/** The newest release before this commit, as Git's tag; undefined where this clone has none. */
export function lastRelease(): string | undefined {
  const options = ['--merged=HEAD', '--no-contains=HEAD', '--sort=-version:refname'];
  const [tag] = git('tag', '--list', 'v[0-9]*', ...options)
    .toString()
    .split('\n');
  return tag === '' ? undefined : tag;
}

/** Unpacks the sources of a release: the folder, as a checkout without packages. */
export async function unpackRelease(tag: string): Promise<string> {
  const to = await mkdtemp(join(tmpdir(), 'release-'));
  execFileSync('tar', ['-C', to, '-x'], { input: git('archive', '--format=tar', tag, '--', ...paths) });
  // this checkout's are mounted there
  await mkdir(join(to, 'node_modules'));
  // a replica is another user
  await run('chmod', ['-R', 'a+rX', to]);
  return to;
}

const git = (...args: string[]): Buffer =>
  execFileSync('git', args, {
    cwd: fileURLToPath(new URL('../../../', import.meta.url)),
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
