import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { errorCodes } from '../../../webhook/lib/errors.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const text = (path: string): string => readFileSync(`${root}${path}`, 'utf8');

test('every error code can be met: something throws it', () => {
  const sources = globSync(['webhook/**/*.ts', 'certs/**/*.ts'], { cwd: root })
    .filter((path) => path !== 'webhook/lib/errors.ts')
    .map(text)
    .join('\n');
  assert.deepEqual(
    Object.keys(errorCodes).filter((code) => !sources.includes(`'${code}'`)),
    [],
  );
});

test('the entry asks for the Node that the packed package.json asks for', () => {
  const [major, minor] = /leastNode.*= \[(\d+), (\d+)\]/.exec(text('webhook/main.ts'))?.slice(1) ?? [];
  const { prepack } = JSON.parse(text('package.json')).scripts;
  assert.equal(prepack, `npm pkg set engines.node='>=${major}.${minor}'`);
});
