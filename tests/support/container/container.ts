import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { mortal } from '../mortal.ts';

const enter = fileURLToPath(new URL('./enter.sh', import.meta.url));
const namespaces = ['--mount', '--pid', '--fork', '--kill-child'];

export interface Container {
  /** The root file system. Missing mount points are created in it. */
  root: string;
  uid: number;
  writable?: boolean;
  /** Additional mounts, each from a path of the machine to a path in the root. */
  mounts?: Mount[];
}

/** A mount, which is read-only unless `rw` is given. */
export type Mount = [source: string, target: string, access?: 'rw' | 'ro'];

/** A command in a container, as arguments for `spawn`. The command ends when the process that starts it ends. */
export function contained(
  { root, uid, writable = false, mounts = [] }: Container,
  command: readonly string[],
): [string, string[]] {
  const bound = mounts.map(
    ([source, target, access]) => `${source}=${target}${access === 'rw' ? '=rw' : ''}`,
  );
  const flags = [root, writable ? 'rw' : 'ro', String(uid), ...bound];
  return mortal('unshare', [...namespaces, 'sh', enter, ...flags, '--', ...command]);
}

/** Sends a signal to the command of a container. @param child the process of `unshare` around the command */
export function signal(child: ChildProcess, name: NodeJS.Signals): void {
  process.kill(commandOf(child), name);
}

/** The process ID, outside the container, of the command that a process of `unshare` started. */
const commandOf = ({ pid }: ChildProcess): number => childOf(childOf(pid));

const childOf = (pid: number | undefined): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0]);
