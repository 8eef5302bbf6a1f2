import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { baseImages, dockerfileText } from '../../image/dockerfile.ts';

/* What a build on one machine does not show. What it shows is in tests/image. */

test('every base image is pinned by a tag, and Node is the one that the tests run on', () => {
  const lock = JSON.parse(readFileSync(new URL('../../../package-lock.json', import.meta.url), 'utf8'));
  const node = lock.packages['node_modules/node'].version;
  const images = [...new Set(baseImages())];
  assert.equal(images.length, 3);
  for (const image of images) {
    assert.match(image, /:(?!latest$)/);
    if (image.startsWith('node:'))
      assert.ok(image.startsWith(`node:${node}-`), `${image} is not Node ${node}`);
  }
});

test('no step is for one architecture, and what is built is built on the machine that builds', () => {
  for (const stage of ['packages', 'compile'])
    assert.match(dockerfileText(), new RegExp(`^FROM --platform=\\$BUILDPLATFORM .* AS ${stage}$`, 'm'));
  assert.match(dockerfileText(), /^FROM packages AS bundle$/m);
  assert.match(dockerfileText(), /^FROM packages AS checks$/m);
  assert.doesNotMatch(dockerfileText(), /amd64|arm64|x86_64|aarch64/);
});
