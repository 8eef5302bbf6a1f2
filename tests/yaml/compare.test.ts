import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { isDeepStrictEqual as same } from 'node:util';
import { cases, deliberate } from './cases.ts';
import { type Read, readByKubernetes, readByUs } from './readers.ts';

/** The difference between two results; undefined if both reject the text or both read the same values. */
function difference(text: string, kubernetes: Read, ours: Read): string | undefined {
  const refused = kubernetes.error !== undefined;
  if (refused && ours.error !== undefined) return undefined;
  // JSON turns -0 into 0
  const values = JSON.parse(JSON.stringify(kubernetes.values));
  if (!refused && ours.error === undefined && same(values, ours.values)) return undefined;
  const show = ({ values, error }: Read): string => error ?? JSON.stringify(values).slice(0, 2000);
  return `${JSON.stringify(text)}\n  Kubernetes: ${show(kubernetes)}\n  review: ${show(ours)}\n`;
}

function differences(texts: readonly string[]): (string | undefined)[] {
  const kubernetes = readByKubernetes(texts);
  return texts.map((text, index) => difference(text, kubernetes[index] ?? { values: [] }, readByUs(text)));
}

test('texts that kubectl reads have the same values, and texts that it refuses are refused', () => {
  const found = differences(Object.values(cases)).filter((one) => one !== undefined);
  assert.deepEqual(found, [], found.join('\n'));
});

test('kubectl and review differ in each case that is listed as a difference', () => {
  const found = differences(Object.values(deliberate).map(([, text]) => text));
  const same = Object.keys(deliberate).filter((_, index) => found[index] === undefined);
  assert.deepEqual(same, []);
});

const checkout = fileURLToPath(new URL('../..', import.meta.url));

/** All files that users apply, review or copy. */
const manifests = [
  'examples/*.yaml',
  'manifests/**/*.yaml',
  'tests/golden/cases/**/*.yaml',
  'docker-compose.yml',
].flatMap((pattern) => globSync(pattern, { cwd: checkout }));

test('manifests of this project are read as kubectl reads them', () => {
  assert.ok(manifests.length > 100);
  const texts = manifests.map((file) => readFileSync(`${checkout}/${file}`, 'utf8'));
  const unexpected = differences(texts).filter((found) => found !== undefined);
  assert.deepEqual(unexpected, [], unexpected.join('\n'));
});
