import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isDeepStrictEqual as same } from 'node:util';
import { cases } from './cases.ts';
import { deliberate } from './deliberate.ts';
import { editedManifests, ownManifests } from './edits.ts';
import { type Read, readByKubernetes, readByUs } from './readers.ts';

/** What differs; undefined where both refuse a text, or both read the same values from it. */
function difference(text: string, kubernetes: Read, ours: Read): string | undefined {
  const refused = kubernetes.error !== undefined;
  if (refused && ours.error !== undefined) return undefined;
  // -0 is 0 in JSON
  const values = JSON.parse(JSON.stringify(kubernetes.values));
  if (!refused && ours.error === undefined && same(values, ours.values)) return undefined;
  const show = ({ values, error }: Read): string => error ?? JSON.stringify(values).slice(0, 2000);
  return `${JSON.stringify(text)}\n  Kubernetes: ${show(kubernetes)}\n  review: ${show(ours)}\n`;
}

function differences(texts: readonly string[]): (string | undefined)[] {
  const kubernetes = readByKubernetes(texts);
  return texts.map((text, index) => difference(text, kubernetes[index] ?? { values: [] }, readByUs(text)));
}

test('what kubectl reads is read with the same values, and what it refuses is refused', () => {
  const found = differences(Object.values(cases));
  const names = Object.keys(cases);
  assert.ok(names.length >= 250);
  const unexpected = names.flatMap((name, index) =>
    found[index] !== undefined && !Object.hasOwn(deliberate, name) ? [`${name}: ${found[index]}`] : [],
  );
  assert.deepEqual(unexpected, [], unexpected.join('\n'));
  // a deliberate difference that is none any more is no longer listed
  assert.deepEqual(
    names.filter((_, index) => found[index] !== undefined),
    names.filter((name) => Object.hasOwn(deliberate, name)),
  );
});

/** More of them, or others: `YAML_RUNS=20000 YAML_SEED=7 npm run suite yaml`. */
const runs = Number(process.env.YAML_RUNS ?? 3000);
const seed = Number(process.env.YAML_SEED ?? 20261122);

test('manifests of this project are read as kubectl reads them', () => {
  const unexpected = differences(ownManifests()).filter((found) => found !== undefined);
  assert.deepEqual(unexpected, [], unexpected.join('\n'));
});

test('manifests with edits that may break them: what both readers read has the same values', () => {
  const texts = editedManifests(runs, seed).filter((text) => !isDeliberate(text));
  const kubernetes = readByKubernetes(texts);
  const both = texts.flatMap((text, index) => {
    const [theirs, ours] = [kubernetes[index] ?? { values: [] }, readByUs(text)];
    const isRead = theirs.values.some((value) => typeof value === 'object');
    return isRead && theirs.error === undefined && ours.error === undefined ? [{ text, theirs, ours }] : [];
  });
  assert.ok(both.length > runs / 4, `${both.length}`);
  const unexpected = both.flatMap(({ text, theirs, ours }) => difference(text, theirs, ours) ?? []);
  assert.deepEqual(unexpected.length, 0, unexpected.slice(0, 20).join('\n'));
});

/** Texts with a line that ends a document, with a directive, or with what only generated edits contain: see deliberate.ts. */
const isDeliberate = (text: string): boolean =>
  /^(?:\.\.\.|%)/m.test(text) || /\u2028|\r(?!\n)|^[|>]/m.test(text);
