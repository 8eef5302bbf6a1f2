import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheHome } from '../cluster/binaries/cache.ts';
import { run } from '../support/run.ts';

const version = 'v4.3.1';
const module = `helm.sh/helm/v4/cmd/helm@${version}`;
const path = join(cacheHome(), `helm-${version}`, 'helm');

/** The chart in this checkout. */
export const chart = fileURLToPath(new URL('../../charts/cni-gate', import.meta.url));

/**
 * Builds Helm from its Go module, once, and keeps it in the user's cache. It takes three minutes on two cores, and the
 * network.
 *
 * @throws Error if there is no Go, or no module proxy
 */
export async function buildHelm(): Promise<void> {
  if (existsSync(path)) return;
  console.error(`Building ${module}, once: about 3 minutes on two cores.`);
  await mkdir(dirname(path), { recursive: true });
  const folder = await mkdtemp(join(dirname(path), 'build-'));
  try {
    const env = { ...process.env, GOBIN: folder, CGO_ENABLED: '0' };
    await run('go', ['install', '-trimpath', '-ldflags=-s -w', module], '', env);
    // another run may do the same: a rename leaves one of two equal files
    await rename(join(folder, 'helm'), path);
  } catch (error) {
    throw new Error(
      `NOT RUN: ${module} cannot be built; it needs Go and the Go module proxy, once.\n${error}`,
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * Runs Helm.
 *
 * @returns its standard output
 * @throws Error with its arguments and standard error if it does not end with 0, or if it was not built
 */
export async function helm(args: string[], input = ''): Promise<string> {
  if (!existsSync(path)) throw new Error('NOT RUN: there is no Helm. Run: npm run test:chart');
  return run(path, args, input);
}
