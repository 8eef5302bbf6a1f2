import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { clean } from '../../lib/clean.ts';
import { messageOf } from '../../lib/errors.ts';
import { type Fault, faultAt } from '../model.ts';
import { decodeText, type Input } from './files.ts';

/** What a program printed, or its last messages if it failed, and the code of that: `ENOENT` if there is no such program. */
export type Ended = { output: Buffer } | { failure: string; code: unknown };

const execute = promisify(execFile);

/**
 * Runs a program without a shell, at most two minutes: it may fetch remote resources.
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
    const options = { timeout: 120_000, maxBuffer, killSignal: 'SIGKILL', encoding: 'buffer' } as const;
    const { stdout } = await execute(program, args, { ...options, env: { ...process.env, ...env } });
    return { output: stdout };
  } catch (error) {
    const { code, stderr = '' } = error as { code?: unknown; stderr?: Buffer };
    const messages = String(stderr).trim() || messageOf(error);
    return { failure: clean(messages.replaceAll(/\s+/g, ' ')).slice(-300), code };
  }
}

/**
 * What a folder with a kustomization renders to, by kubectl or, without it, by kustomize.
 *
 * @param max the maximum number of bytes
 */
export async function renderKustomization(folder: string, max: number): Promise<Input | Fault> {
  let ended = await run('kubectl', ['kustomize', folder], max);
  if ('code' in ended && ended.code === 'ENOENT') ended = await run('kustomize', ['build', folder], max);
  if ('output' in ended) {
    return { file: folder, text: decodeText(ended.output) ?? '', size: ended.output.length };
  }
  const why = ended.code === 'ENOENT' ? 'found neither kubectl nor kustomize in the PATH' : ended.failure;
  return faultAt({ file: folder }, 'CNI_GATE_INPUT_KUSTOMIZE', `cannot render the folder: ${why}`);
}
