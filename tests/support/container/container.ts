import { type ChildProcess, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { mortal } from '../mortal.ts';

const enter = fileURLToPath(new URL('./enter.sh', import.meta.url));
const namespaces = ['--mount', '--pid', '--fork', '--kill-child'];

/** What a container sees. */
export interface Container {
  /** Its root file system. Folders that it lacks for mounts are made in it. */
  root: string;
  /** User and group. */
  uid: number;
  /** What else is there, read-only: from a path of the machine to one in the root. */
  mounts?: [source: string, target: string][];
}

/** A command in such a container, as arguments for `spawn`. It ends with the process that starts it. */
export function contained(
  { root, uid, mounts = [] }: Container,
  command: readonly string[],
): [string, string[]] {
  const bound = mounts.map(([source, target]) => `${source}=${target}`);
  return mortal('unshare', [...namespaces, 'sh', enter, root, String(uid), ...bound, '--', ...command]);
}

/** Sends a signal to the container's first process, where the child is `unshare` around it. */
export function signal({ pid }: ChildProcess, name: NodeJS.Signals): void {
  const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ');
  process.kill(Number(first), name);
}

/** @throws Error where the machine lets nobody have such namespaces */
export function needContainers(): void {
  const { status, stderr, error } = spawnSync('unshare', [...namespaces, 'true'], { encoding: 'utf8' });
  if (status === 0) return;
  throw new Error(
    `NOT RUN: this needs mount and PID namespaces: Linux, root, util-linux. ${error?.message ?? stderr.trim()}`,
  );
}
