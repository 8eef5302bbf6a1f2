import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { messageOf } from '../../../webhook/lib/errors.ts';
import { mortal } from '../../support/mortal.ts';
import { cacheFolder } from './cache.ts';

/** The programs of a control plane, and the kubelet, under the names that they have in releases of Kubernetes. */
export const programs = [
  'etcd',
  'kube-apiserver',
  'kube-controller-manager',
  'kube-scheduler',
  'kubectl',
  'kubelet',
  'kwok',
] as const;

export type Program = (typeof programs)[number];

const builder = fileURLToPath(new URL('./build.sh', import.meta.url));
/** The exit code of `flock` if another process holds the lock. */
const heldByAnother = 75;

/** Builds the programs if `KUBEBUILDER_ASSETS` lacks any of them. @returns folders to search for a program, in order */
export async function ensurePrograms(wanted: readonly Program[]): Promise<string[]> {
  const { KUBEBUILDER_ASSETS } = process.env;
  if (!KUBEBUILDER_ASSETS) return [await built()];
  const assets = resolve(KUBEBUILDER_ASSETS);
  const missing = wanted.filter((program) => !existsSync(join(assets, program)));
  if (missing.length === 0) return [assets];
  console.error(`KUBEBUILDER_ASSETS=${assets} has no ${missing.join(', ')}: taken from the build instead.`);
  return [assets, await built()];
}

async function built(): Promise<string> {
  const folder = await cacheFolder().catch((error) => {
    throw new Error(
      'NOT RUN: there are no Kubernetes programs, and no Go to build them with. Install Go 1.26 or later (an older ' +
        'one, from 1.21 on, fetches it with GOTOOLCHAIN=auto), or set KUBEBUILDER_ASSETS to a folder that has ' +
        `${programs.join(', ')} (kubelet for tests of a node only).\nIt said: ${messageOf(error)}`,
    );
  });
  if (existsSync(folder)) return folder;
  mkdirSync(dirname(folder), { recursive: true });
  const lock = `${folder}.lock`;
  const first = spawnSync('flock', ['--nonblock', `--conflict-exit-code=${heldByAnother}`, lock, 'true']);
  if (first.status === heldByAnother) console.error('Another run builds the programs; waiting for it.');
  const building = mortal('flock', [lock, ...mortal(builder, [folder]).flat()]);
  const { status } = spawnSync(...building, { stdio: 'inherit' });
  if (status !== 0) {
    throw new Error(
      'NOT RUN: the Kubernetes programs could not be built; Go says why above. It needs the Go module proxy ' +
        '(GOPROXY) once, and 5 GB of disk with its caches.',
    );
  }
  return folder;
}

/** The path of the program in the first folder that has it. */
export function find(folders: readonly string[], program: Program): string {
  const path = folders.map((folder) => join(folder, program)).find(existsSync);
  if (path === undefined) throw new Error(`There is no ${program} in ${folders.join(' or ')}.`);
  return path;
}

/** The path of a program that the runner (tests/cluster/run.ts) has found or built. */
export function programPath(program: Program): string {
  const folders = process.env.CNI_GATE_PROGRAMS;
  if (folders !== undefined) return find(folders.split(':'), program);
  throw new Error(
    'NOT RUN: a control plane is started inside the runner only. Whole suite: npm run suite cluster. ' +
      'One file: npx node tests/cluster/run.ts node --test FILE',
  );
}
