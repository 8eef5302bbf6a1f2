import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { run } from '../../support/run.ts';

// builds with the Go of Debian 12, 1.19; v1.3.0 needs 1.21
const version = 'v1.1.2';
const module = `github.com/containernetworking/cni/cnitool@${version}`;

/**
 * The CNI project's own tool, which calls plugins by the protocol as a container runtime does: built from its Go
 * module once, and kept in the user's cache.
 */
export async function cnitool(): Promise<string> {
  const cache = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
  const path = join(cache, 'cni-gate', `cnitool-${version}`, 'cnitool');
  if (existsSync(path)) return path;
  await mkdir(dirname(path), { recursive: true });
  const folder = await mkdtemp(join(dirname(path), 'build-'));
  try {
    await run('go', ['install', module], '', { ...process.env, GOBIN: folder, CGO_ENABLED: '0' });
    // another run may do the same: a rename leaves one of two equal files
    await rename(join(folder, 'cnitool'), path);
  } catch (error) {
    throw new Error(
      `NOT RUN: ${module} cannot be built; it needs Go and the Go module proxy, once.\n${error}`,
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return path;
}
