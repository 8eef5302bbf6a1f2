import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { clean } from '../lib/clean.ts';
import { CniGateError, messageOf } from '../lib/errors.ts';
import { mostInput } from './input/limits.ts';

/** What git printed, or its last messages if it failed. */
type Ended = { output: Buffer } | { failure: string };

const execute = promisify(execFile);

/** Runs git without programs that the repository's configuration names, and without questions for a password. */
export async function git(...args: string[]): Promise<Ended> {
  const quiet = { GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' };
  try {
    const { stdout } = await execute('git', ['-c', 'core.fsmonitor=false', ...args], {
      timeout: 120_000,
      maxBuffer: mostInput(),
      killSignal: 'SIGKILL',
      encoding: 'buffer',
      env: { ...process.env, ...quiet },
    });
    return { output: stdout };
  } catch (error) {
    const messages = String((error as { stderr?: Buffer }).stderr ?? '').trim() || messageOf(error);
    return { failure: clean(messages.replaceAll(/\s+/g, ' ')).slice(-300) };
  }
}

/** What git prints. @throws CniGateError CNI_GATE_GIT */
export async function gitOutput(...args: string[]): Promise<string> {
  const ended = await git(...args);
  if ('output' in ended) return ended.output.toString();
  const message = `--changed-since needs git, and the current folder to be in a working tree: ${ended.failure}`;
  throw new CniGateError('CNI_GATE_GIT', message);
}
