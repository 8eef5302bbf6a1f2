import { spawn } from 'node:child_process';
import { clean } from '../../lib/clean.ts';
import { CniGateError, errnoOf, messageOf } from '../../lib/errors.ts';

/** What git printed, if it succeeded. */
export interface GitResult {
  /** Null if a signal ended it. */
  status: number | null;
  stdout: Buffer;
  /** The first line of its messages. */
  message: string;
}

/** Milliseconds that one call of git may take: it may fetch objects that a partial clone lacks. */
const timeout = 120_000;

/** The maximum number of characters of a message of git that are shown. */
const longestMessage = 300;

/**
 * Runs git without a shell, and only commands that read neither the index nor the working tree, because those would run
 * programs that the repository's configuration names (hooks, filters).
 *
 * @param input for its standard input
 * @param max the maximum number of bytes of its output
 * @throws CniGateError CNI_GATE_GIT if it cannot be started or does not end, CNI_GATE_INPUT_TOO_LARGE beyond `max`
 */
export async function runGit(
  args: readonly string[],
  { input, max }: { input?: string; max: number },
): Promise<GitResult> {
  const child = spawn('git', args, {
    stdio: ['pipe', 'pipe', 'pipe'],
    // a question for a password would wait for ever, and messages are shown as they are
    env: { ...process.env, GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0', LC_ALL: 'C' },
  });
  const timer = setTimeout(() => child.kill('SIGKILL'), timeout);
  const chunks: Buffer[] = [];
  let size = 0;
  let messages = '';
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > max) child.kill('SIGKILL');
    else chunks.push(chunk);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (messages.length < longestMessage) messages += text;
  });
  // git may end before it has read everything: its status says so
  child.stdin.on('error', () => {});
  child.stdin.end(input ?? '');
  const ended = Promise.withResolvers<number | null>();
  child.once('error', ended.reject).once('close', ended.resolve);
  let status: number | null;
  try {
    status = await ended.promise;
  } catch (error) {
    const why = errnoOf(error) === 'ENOENT' ? 'there is no program "git" in the PATH' : messageOf(error);
    throw new CniGateError('CNI_GATE_GIT', `--changed-since needs git: ${why}`);
  } finally {
    clearTimeout(timer);
  }
  if (size > max) {
    const message = `git ${args[0]} printed more than ${max} bytes: review fewer files at a time, or without --changed-since`;
    throw new CniGateError('CNI_GATE_INPUT_TOO_LARGE', message);
  }
  const message = clean(messages.split('\n', 1)[0] ?? '').slice(0, longestMessage);
  if (status === null) {
    throw new CniGateError('CNI_GATE_GIT', `git ${args[0]} did not end: ${message || 'it was killed'}`);
  }
  return { status, stdout: Buffer.concat(chunks), message };
}
