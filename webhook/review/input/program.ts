import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { clean } from '../../lib/clean.ts';
import { messageOf } from '../../lib/errors.ts';
import { type Fault, faultAt } from '../model.ts';
import { decodeText, type Input } from './files.ts';

/** Milliseconds that a program may take: it may fetch remote resources. */
const timeout = 120_000;

/** The maximum number of characters of a program's messages that are shown: the last ones. */
const longestMessage = 300;

/** What a program printed, or why it failed; then the code is its exit code, or the name of an error such as ENOENT. */
export type Ended = { output: Buffer } | { failure: string; code: unknown };

const execute = promisify(execFile);

/**
 * Runs a program without a shell.
 *
 * @param maxBuffer the maximum number of bytes of its output
 * @param env variables beside those of this process
 */
export async function run(
  program: string,
  args: readonly string[],
  maxBuffer: number,
  env: NodeJS.ProcessEnv = {},
): Promise<Ended> {
  try {
    const options = { timeout, maxBuffer, killSignal: 'SIGKILL', encoding: 'buffer' } as const;
    const { stdout } = await execute(program, args, { ...options, env: { ...process.env, ...env } });
    return { output: stdout };
  } catch (error) {
    const { code, stderr = '' } = error as { code?: unknown; stderr?: Buffer };
    const messages = String(stderr).trim() || messageOf(error);
    return { failure: clean(messages.replaceAll(/\s+/g, ' ')).slice(-longestMessage), code };
  }
}

/** Programs that render a folder; the first one in the PATH counts. */
const renderers = [
  ['kubectl', 'kustomize'],
  ['kustomize', 'build'],
] as const;

/**
 * What a folder with a kustomization renders to.
 *
 * @param max the maximum number of bytes
 */
export async function renderKustomization(folder: string, max: number): Promise<Input | Fault> {
  let why = 'expected the program kubectl or kustomize in the PATH, to render the folder; found none of them';
  for (const [program, verb] of renderers) {
    const ended = await run(program, [verb, folder], max);
    if ('output' in ended) {
      return { file: folder, text: decodeText(ended.output) ?? '', size: ended.output.length };
    }
    if (ended.code === 'ENOENT') continue;
    why = `${program} ${verb}: ${ended.failure}`;
    break;
  }
  return faultAt({ file: folder }, 'CNI_GATE_INPUT_KUSTOMIZE', why);
}
