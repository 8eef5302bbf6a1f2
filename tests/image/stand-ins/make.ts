import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../support/run.ts';
import { namedImages } from '../docker.ts';
import { layFiles } from './files.ts';

/**
 * Makes a local stand-in for each image that the Dockerfile and docker-compose.yml name, under the image's name.
 *
 * usage: npx node tests/image/stand-ins/make.ts DEBIAN
 *
 * DEBIAN is the tar file with the root file system that install.sh stores in the cache.
 */
const debian = mkdtempSync(join(tmpdir(), 'debian-'));
try {
  await run('tar', ['-C', debian, '-xf', process.argv[2] ?? '']);
  const images = (await namedImages()).values();
  // two at the same time, because an import uses one processor
  await Promise.all(
    [images, images].map(async (next) => {
      for (const image of next) await make(image);
    }),
  );
} finally {
  rmSync(debian, { recursive: true });
}

async function make(image: string): Promise<void> {
  const root = mkdtempSync(join(tmpdir(), 'image-'));
  try {
    const settings = await layFiles(image, root, debian);
    const changes = settings.flatMap((setting) => ['--change', setting]);
    // piped instead of stored in an archive, because the temporary folder is in memory
    const imported = 'set -o pipefail; from=$1; shift; tar -C "$from" -c . | docker import "$@"';
    await run('bash', ['-c', imported, 'bash', root, ...changes, '-', image]);
  } finally {
    rmSync(root, { recursive: true });
  }
}
