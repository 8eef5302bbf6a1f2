import { type Fault, faultAt } from '../model.ts';
import { decodeText, type Input } from './files.ts';
import { run } from './program.ts';

/** Programs that render a folder, the one that is there first counts. */
const programs = [
  ['kubectl', 'kustomize'],
  ['kustomize', 'build'],
] as const;

/**
 * What a folder with a kustomization renders to.
 *
 * @param max the maximum number of bytes
 */
export async function renderKustomization(folder: string, max: number): Promise<Input | Fault> {
  for (const [program, verb] of programs) {
    const ended = await run(program, [verb, folder], max);
    if ('output' in ended) {
      return { file: folder, text: decodeText(ended.output) ?? '', size: ended.output.length };
    }
    if (ended.reason !== 'missing') return failed(folder, `${program} ${verb}: ${ended.failure}`);
  }
  return failed(
    folder,
    'expected the program kubectl or kustomize in the PATH, to render the folder; found none of them',
  );
}

const failed = (folder: string, why: string): Fault =>
  faultAt({ file: folder }, 'CNI_GATE_INPUT_KUSTOMIZE', why);
