import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { errorCodes } from '../../../webhook/lib/errors.ts';
import { baseImages } from '../../image/dockerfile.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const text = (path: string): string => readFileSync(join(root, path), 'utf8');

test('every error code can occur: something throws it', () => {
  const sources = globSync('{webhook,certs}/**/*.ts', { cwd: root })
    .filter((path) => path !== 'webhook/lib/errors.ts')
    .map(text)
    .join('\n');
  const unused = Object.keys(errorCodes).filter((code) => !sources.includes(`'${code}'`));
  assert.deepEqual(unused, []);
});

test('the entry point requires the Node version that the packed package.json requires', () => {
  const [major, minor] = /leastNode.*= \[(\d+), (\d+)\]/.exec(text('webhook/main.ts'))?.slice(1) ?? [];
  const { prepack } = JSON.parse(text('package.json')).scripts;
  assert.equal(prepack, `npm pkg set engines.node='>=${major}.${minor}'`);
});

test('the demo shows a pod with its proof, then a refusal, then the admission', () => {
  const demo = join(root, 'tests/demo/demo.ts');
  const { status, stdout, stderr } = spawnSync(process.execPath, [demo], { encoding: 'utf8' });
  assert.equal(status, 0, stderr);
  assert.deepEqual(stdout.match(/^[+] .*(?=:| #)/gm), [
    '+     cni-gate.io/profile',
    '+   - name: cni-gate-validator',
  ]);
  assert.match(stdout, /allowed: false\n.*CNI_GATE_NODE_NOT_READY [^)]+\)\n\n.*\n {2}allowed: true/);
});

test('every base image is pinned by a tag, and Node has the version that runs the tests', () => {
  const node = JSON.parse(text('package-lock.json')).packages['node_modules/node'].version;
  const images = [...new Set(baseImages())];
  assert.ok(images.length > 0);
  for (const image of images) {
    assert.match(image, /:(?!latest$)/);
    if (image.startsWith('node:')) assert.ok(image.startsWith(`node:${node}-`), image);
  }
});
