import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { folderWith } from '../review/support.ts';

export interface Repository {
  folder: string;
  git(...args: string[]): string;
  write(files: Record<string, string>): void;
  commit(): string;
}

/** An environment in which git ignores the configuration of the user and of the machine. */
export const gitEnvironment: NodeJS.ProcessEnv = {
  ...process.env,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.com',
};

/** A git repository whose first commit has these files. The repository is removed when the test ends. */
export function repositoryWith(
  t: TestContext,
  files: Record<string, string>,
  ...options: string[]
): Repository {
  const folder = folderWith(t, {});
  const git = (...args: string[]): string => {
    const { status, stdout, stderr } = spawnSync('git', args, {
      cwd: folder,
      encoding: 'utf8',
      env: gitEnvironment,
    });
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr}`);
    return stdout.trim();
  };
  const write = (written: Record<string, string>): void => {
    for (const [name, text] of Object.entries(written)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
  };
  const commit = (): string => {
    git('add', '--all');
    git('commit', '--quiet', '--allow-empty', '--message', 'a');
    return git('rev-parse', 'HEAD');
  };
  git('init', '--quiet', '--initial-branch=main', ...options);
  write(files);
  commit();
  return { folder, git, write, commit };
}
