import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** The program, as a file that Node runs. */
export const main = fileURLToPath(new URL('../../webhook/main.ts', import.meta.url));

export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs `cni-gate` to its end as a process of its own. */
export function cniGate(
  args: string[],
  options: { input?: string; cwd?: string; env?: NodeJS.ProcessEnv } = {},
): Ended {
  return spawnSync(process.execPath, [main, ...args], {
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    ...options,
  });
}

/** Starts `cni-gate` as a process of its own. */
export function startCniGate(args: string[]): ChildProcess {
  return spawn(process.execPath, [main, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
}
