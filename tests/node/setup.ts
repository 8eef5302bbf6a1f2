/** What the runner passes to the tests: see run.ts. */
export interface Setup {
  kubelet: string;
  /** The control group of this run. */
  group: string;
  /** The folder with `root` and `config.json` for each image (tests/image/exported.ts). */
  images: string;
}

export const setupVariable = 'CNI_GATE_NODE_SETUP';

/** @throws Error outside the runner, because a node would change the machine itself */
export function inRun(): Setup {
  const text = process.env[setupVariable];
  if (text !== undefined) return JSON.parse(text);
  throw new Error(
    'NOT RUN: a node is booted inside the runner only. Whole suite: npm run suite node. ' +
      'One file: npx node tests/node/run.ts node --test FILE',
  );
}
