import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, join, resolve } from 'node:path';
import { run } from '../support/run.ts';
import { layBase } from './bases.ts';
import { copyContext } from './context.ts';
import { type CopyStep, readStages, type Stage } from './dockerfile.ts';

/**
 * Makes the root file system of the image, as an engine would by the Dockerfile: stages in their order, RUN in a
 * clean copy of the checkout, COPY line by line. Base images are what `bases.ts` has in their place. Needs npm's
 * registry, as the Dockerfile does.
 *
 * @param root an empty folder
 */
export async function imageRoot(root: string): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'cni-gate-image-'));
  try {
    const context = join(scratch, 'context');
    await copyContext(context);
    const stages = readStages();
    const roots = new Map<string, string>();
    for (const [index, stage] of stages.entries()) {
      const here = stage === stages.at(-1) ? root : join(scratch, `stage-${index}`);
      mkdirSync(here, { recursive: true });
      await makeStage(stage, here, context, roots);
      if (stage.name !== undefined) roots.set(stage.name, here);
    }
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

async function makeStage(
  stage: Stage,
  root: string,
  context: string,
  roots: ReadonlyMap<string, string>,
): Promise<void> {
  await layBase(stage.base, root);
  let workdir = '/';
  for (const step of stage.steps) {
    if ('workdir' in step) {
      workdir = resolve(workdir, step.workdir);
      mkdirSync(join(root, workdir), { recursive: true });
    } else if ('copy' in step) {
      copy(step.copy, sourceOf(step.copy, context, roots), root, workdir);
    } else {
      await runIn(join(root, workdir), step.run);
    }
  }
}

function sourceOf({ from }: CopyStep, context: string, roots: ReadonlyMap<string, string>): string {
  if (from === undefined) return context;
  const root = roots.get(from);
  if (root === undefined) throw new Error(`COPY --from=${from}: no stage before it has this name`);
  return root;
}

/** A folder gives its contents, a file goes into a target that ends with a slash (docs.docker.com, COPY). */
function copy({ sources, target }: CopyStep, from: string, root: string, workdir: string): void {
  const to = join(root, resolve(workdir, target));
  if (sources.length > 1 && !target.endsWith('/'))
    throw new Error(`COPY of several files to ${target}: needs a /`);
  for (const source of sources) {
    const path = join(from, source);
    if (!existsSync(path)) throw new Error(`COPY ${source}: there is no such file`);
    const into = target.endsWith('/') && !statSync(path).isDirectory() ? join(to, basename(source)) : to;
    mkdirSync(dirname(into), { recursive: true });
    cpSync(path, into, { recursive: true, verbatimSymlinks: true });
  }
}

/** With this Node first in the PATH, as in the base image, and no program of the checkout. */
async function runIn(folder: string, command: string): Promise<void> {
  const path = [dirname(process.execPath), ...(process.env.PATH ?? '').split(delimiter)]
    .filter((part) => !part.endsWith('node_modules/.bin'))
    .join(delimiter);
  await run('sh', ['-ec', `cd "$1"; ${command}`, 'sh', folder], '', { ...process.env, PATH: path });
}

// node tests/image/root.ts FOLDER
if (import.meta.main) await imageRoot(process.argv[2] ?? '');
