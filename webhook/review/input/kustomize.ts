import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { errnoOf } from '../../lib/errors.ts';
import { type Fault, faultAt } from '../model.ts';
import { inMebi } from './limits.ts';
import type { Input } from './read.ts';

/** Programs that render a folder, the one that is there first counts. */
const programs = [
  ['kubectl', 'kustomize'],
  ['kustomize', 'build'],
] as const;

/** Milliseconds that a program may take: it may fetch remote resources. */
const timeout = 120_000;

/**
 * What a folder with a kustomization renders to.
 *
 * @param max the maximum number of bytes
 */
export async function renderKustomization(folder: string, max: number): Promise<Input | Fault> {
  for (const [program, verb] of programs) {
    const rendered = await run(program, [verb, folder], max);
    if (rendered !== undefined) {
      return typeof rendered === 'string'
        ? { file: folder, text: rendered, size: Buffer.byteLength(rendered) }
        : faultAt({ file: folder }, 'CNI_GATE_INPUT_KUSTOMIZE', `${program} ${verb}: ${rendered.why}`);
    }
  }
  const why =
    'expected the program kubectl or kustomize in the PATH, to render the folder; found none of them';
  return faultAt({ file: folder }, 'CNI_GATE_INPUT_KUSTOMIZE', why);
}

/** Its output, or why there is none; undefined if there is no such program. */
async function run(
  program: string,
  args: string[],
  max: number,
): Promise<string | { why: string } | undefined> {
  const child = spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    // with the option timeout, the timer of a program that is not there would keep this process alive
    signal: AbortSignal.timeout(timeout),
    killSignal: 'SIGKILL',
  });
  const ended = Promise.withResolvers<number | null>();
  child.once('error', ended.reject).once('close', ended.resolve);
  const messages = text(child.stderr);
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (part: string) => {
    output += part;
    if (output.length > max) child.kill('SIGKILL');
  });
  try {
    const status = await ended.promise;
    if (output.length > max) return { why: `it printed more than ${inMebi(max)}` };
    if (status === 0) return output;
    return { why: (await messages).trim().split('\n').at(-1) || `it ended with ${status ?? 'a signal'}` };
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    if (error instanceof Error && error.name === 'AbortError')
      return { why: `it took more than ${timeout / 1000} s` };
    throw error;
  }
}
