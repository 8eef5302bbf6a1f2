import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { version } from '../../webhook/lib/version.ts';
import { run } from '../support/run.ts';
import { buildServer, buildValidator, checkout, docker, ownImage, validatorImage } from './docker.ts';

export interface ImageConfig {
  User: string;
  WorkingDir: string;
  Entrypoint: string[];
  Cmd: string[];
  Env: string[];
  Labels: Record<string, string>;
  Healthcheck?: object;
}

/** Inspects an image. @returns its properties; `Size` is the size of all unpacked layers, in bytes */
export async function inspectImage(image: string): Promise<{ Config: ImageConfig; Size: number }> {
  return JSON.parse(await docker('image', 'inspect', image))[0];
}

/** @throws AssertionError if the image's labels are not its title, this release's version, the license and a source */
export function assertLabels({ Labels: labels }: ImageConfig, title: string): void {
  const { license } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  const label = (name: string): string | undefined => labels[`org.opencontainers.image.${name}`];
  assert.equal(label('version'), version);
  assert.equal(label('title'), title);
  assert.equal(label('licenses'), license);
  assert.ok(label('source')?.startsWith('https://'));
}

export async function exportFiles(image: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  const container = (await docker('create', image)).trim();
  const archive = `${folder}.tar`;
  await docker('export', '--output', archive, container);
  await docker('rm', container);
  await run('tar', ['-C', folder, '-xf', archive]);
  // the engine puts this file into every container
  await Promise.all([archive, join(folder, '.dockerenv')].map((path) => rm(path)));
}

// usage: node tests/image/run.ts node tests/image/exported.ts FOLDER, for tests that run the images without Docker
if (import.meta.main) {
  await Promise.all([buildServer(), buildValidator()]);
  for (const image of [ownImage, validatorImage]) {
    const folder = join(process.argv[2] ?? '', image);
    await exportFiles(image, join(folder, 'root'));
    await writeFile(join(folder, 'config.json'), JSON.stringify((await inspectImage(image)).Config));
  }
}
