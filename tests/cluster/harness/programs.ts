import { find } from '../binaries/ensure.ts';
import type { Program } from '../binaries/programs.ts';

/**
 * The path of a program that the runner made sure of.
 *
 * @throws Error outside the runner, where a control plane would be the machine's own business
 */
export function programPath(program: Program): string {
  const folders = process.env.CNI_GATE_PROGRAMS;
  if (folders === undefined) {
    throw new Error(
      'NOT RUN: a control plane is started inside the runner only. Whole suite: npm run suite cluster. ' +
        'One file: npx node tests/cluster/run.ts node --test FILE',
    );
  }
  return find(folders.split(':'), program);
}
