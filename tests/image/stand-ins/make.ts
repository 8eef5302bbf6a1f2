import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../support/run.ts';
import { namedImages } from '../docker.ts';
import { layFiles } from './files.ts';

/**
 * Makes a local image under the name of each image that the Dockerfile and docker-compose.yml name.
 *
 * usage: npx node tests/image/stand-ins/make.ts DEBIAN
 *
 * DEBIAN is a tar file with the root file system that install.sh makes.
 */
const debian = mkdtempSync(join(tmpdir(), 'debian-'));
try {
  await run('tar', ['-C', debian, '-xf', process.argv[2] ?? '']);
  for (const image of await namedImages()) await make(image);
} finally {
  rmSync(debian, { recursive: true });
}

async function make(image: string): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'image-'));
  try {
    const settings = await layFiles(image, root, debian);
    const changes = settings.flatMap((setting) => ['--change', setting]);
    // no archive: all of this is in memory
    const imported = 'set -o pipefail; from=$1; shift; tar -C "$from" -c . | docker import "$@"';
    await run('bash', ['-c', imported, 'bash', root, ...changes, '-', image]);
  } finally {
    rmSync(root, { recursive: true });
  }
}
