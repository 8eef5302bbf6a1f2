import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { version } from '../../webhook/lib/version.ts';
import { checkout } from './docker.ts';
import type { ImageConfig } from './exported.ts';

/** @throws AssertionError if the image's labels do not tell its title, this release's version, license and source */
export function assertLabels({ Labels: labels }: ImageConfig, title: string): void {
  const { license } = JSON.parse(readFileSync(join(checkout, 'package.json'), 'utf8'));
  const label = (name: string): string | undefined => labels[`org.opencontainers.image.${name}`];
  assert.equal(label('version'), version);
  assert.equal(label('title'), title);
  assert.equal(label('licenses'), license);
  assert.ok(label('source')?.startsWith('https://'));
}
