import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { clean } from '../../lib/clean.ts';
import { CniGateError, messageOf } from '../../lib/errors.ts';

/** Milliseconds that one call of git may take: it may fetch objects that a partial clone lacks. */
const timeout = 120_000;

/** The maximum number of characters of a message of git that are shown. */
const longestMessage = 300;

/** What git printed, or why it failed: the first line of its messages. */
export type GitResult = { output: Buffer } | { failure: string };

const run = promisify(execFile);

/**
 * Runs git without a shell.
 *
 * @param max the maximum number of bytes of its output
 * @throws CniGateError CNI_GATE_GIT if it cannot be started or does not end, CNI_GATE_INPUT_TOO_LARGE beyond `max`
 */
export async function git(args: readonly string[], max: number): Promise<GitResult> {
  // a hook of core.fsmonitor would be a program that the repository's configuration names
  const options = ['-c', 'core.fsmonitor=false'];
  // a question for a password would wait for ever, and messages are shown as they are
  const env = { ...process.env, GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' };
  try {
    const limits = { timeout, maxBuffer: max, killSignal: 'SIGKILL' } as const;
    const { stdout } = await run('git', [...options, ...args], { env, encoding: 'buffer', ...limits });
    return { output: stdout };
  } catch (error) {
    if (!isExit(error)) throw error;
    const { code, stderr = '' } = error;
    const message = clean(String(stderr).split('\n', 1)[0] ?? '').slice(0, longestMessage);
    if (typeof code === 'number') return { failure: message };
    if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') {
      const text = `git ${args[0]} printed more than ${max} bytes: review fewer files at a time, or without --changed-since`;
      throw new CniGateError('CNI_GATE_INPUT_TOO_LARGE', text);
    }
    const why =
      code === 'ENOENT'
        ? 'there is no program "git" in the PATH'
        : `git ${args[0]} did not end: ${message || messageOf(error)}`;
    throw new CniGateError('CNI_GATE_GIT', `--changed-since needs git: ${why}`);
  }
}

/** An error of `execFile`. `code` is the exit status, the code of an error of Node, or null after a signal. */
function isExit(error: unknown): error is Error & { code: unknown; stderr?: Buffer } {
  return error instanceof Error && 'code' in error;
}
