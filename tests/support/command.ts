import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type Command, CommanderError } from 'commander';
import { CniGateError } from '../../webhook/lib/errors.ts';
import { program } from './bundle.ts';

export const main = join(program.folder, program.file);

export interface Ended {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs `cni-gate` as a separate process until it ends. */
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

export function startCniGate(args: string[], env = process.env): ChildProcess {
  return spawn(process.execPath, [main, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
}

/** Runs a command, which must fail, in this process. @returns the message and the code of its error */
export async function errorOf(t: TestContext, command: Command, args: string[]): Promise<string> {
  const { env } = process;
  t.after(() => {
    process.env = env;
  });
  process.env = { PATH: env.PATH, HOME: '/nonexistent' };
  try {
    await command
      .exitOverride()
      .configureOutput({ writeErr: () => {} })
      .parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) return `${error.message} (CNI_GATE_USAGE)`;
    if (error instanceof CniGateError) return `${error.message} (${error.code})`;
    throw error;
  }
  throw new Error(`${args.join(' ')}: there was no error`);
}

const dockerfile = readFileSync(new URL('../../Dockerfile', import.meta.url), 'utf8');

/** The image's arguments for Node. They limit memory, and thereby the garbage collector's pauses. */
export const imageFlags = (JSON.parse(String(/^ENTRYPOINT (.*)$/m.exec(dockerfile)?.[1])) as string[]).slice(
  1,
  -1,
);
