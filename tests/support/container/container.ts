import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { mortal } from '../mortal.ts';

const enter = fileURLToPath(new URL('./enter.sh', import.meta.url));
const namespaces = ['--mount', '--pid', '--fork', '--kill-child'];

export interface Container {
  /** Its root file system. Folders that it lacks for mounts are made in it. */
  root: string;
  uid: number;
  writable?: boolean;
  /** What else is there: from a path of the machine to one in the root. */
  mounts?: Mount[];
}

/** Read-only, but for `rw`. */
export type Mount = [source: string, target: string, access?: 'rw' | 'ro'];

/** A command in such a container, as arguments for `spawn`. It ends with the process that starts it. */
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

/** Sends a signal to the command of a container, where the child is `unshare` around it. */
export function signal(child: ChildProcess, name: NodeJS.Signals): void {
  process.kill(commandOf(child), name);
}

/** The process id of a container's command, as it is outside, where the child is `unshare` around it. */
export const commandOf = ({ pid }: ChildProcess): number => childOf(childOf(pid));

const childOf = (pid: number | undefined): number =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ')[0]);
