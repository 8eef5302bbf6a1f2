import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import dockerignore from '@balena/dockerignore';
import { run } from '../support/run.ts';
import { checkout } from './dockerfile.ts';

/** What an engine would be sent of a clean checkout: files that git knows and `.dockerignore` lets through. */
export async function contextFiles(): Promise<string[]> {
  const ignore = dockerignore
    .default({ ignorecase: false })
    .add(readFileSync(join(checkout, '.dockerignore'), 'utf8'));
  // new files too: a change is tried before it is committed
  const listed = await run('git', [
    '-C',
    checkout,
    'ls-files',
    '--cached',
    '--others',
    '--exclude-standard',
    '-z',
  ]);
  return listed.split('\0').filter((file) => file !== '' && !ignore.ignores(file));
}

/** Copies the build context into a folder. */
export async function copyContext(folder: string): Promise<void> {
  for (const file of await contextFiles()) {
    const target = join(folder, file);
    mkdirSync(dirname(target), { recursive: true });
    cpSync(join(checkout, file), target);
  }
}
