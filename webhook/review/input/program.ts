import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { clean } from '../../lib/clean.ts';
import { errnoOf, messageOf } from '../../lib/errors.ts';
import { inMebi } from './limits.ts';

/** Milliseconds that a program may take: it may fetch remote resources. */
const timeout = 120_000;

/** The maximum number of characters of a program's messages that are shown: the last ones. */
const longestMessage = 300;

/** What a program printed, or why it failed. */
export type Ended =
  | { output: Buffer }
  | { failure: string; reason: 'exit' | 'missing' | 'too-large' | 'time-out' };

const execute = promisify(execFile);

/**
 * Runs a program without a shell.
 *
 * @param max the maximum number of bytes of its output
 * @param env variables beside those of this process
 */
export async function run(
  program: string,
  args: readonly string[],
  max: number,
  env: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  try {
    const options = { timeout, maxBuffer: max, killSignal: 'SIGKILL', encoding: 'buffer' } as const;
    const { stdout } = await execute(program, args, { ...options, env: { ...process.env, ...env } });
    return { output: stdout };
  } catch (error) {
    const { code, stderr = '' } = error as { code?: unknown; stderr?: Buffer };
    const messages = clean(String(stderr).trim().replaceAll(/\s+/g, ' ')).slice(-longestMessage);
    if (typeof code === 'number') return { failure: messages || `it ended with ${code}`, reason: 'exit' };
    if (code === 'ENOENT')
      return { failure: `there is no program "${program}" in the PATH`, reason: 'missing' };
    if (code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER') {
      return { failure: `it printed more than ${inMebi(max)}`, reason: 'too-large' };
    }
    if (errnoOf(error) !== undefined) return { failure: messageOf(error), reason: 'exit' };
    return { failure: `it took more than ${timeout / 1000} s`, reason: 'time-out' };
  }
}
