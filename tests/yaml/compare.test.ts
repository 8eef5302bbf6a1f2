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

/** More of them, or others: `YAML_RUNS=20000 YAML_SEED=7 npm run test:yaml`. */
const runs = Number(process.env.YAML_RUNS ?? 3000);
const seed = Number(process.env.YAML_SEED ?? 20261122);

test('manifests as they are, and with edits that may break them, are read as kubectl reads them', () => {
  const texts = [...ownManifests(), ...editedManifests(runs, seed)].filter((text) => !isDeliberate(text));
  assert.ok(texts.length > runs / 2);
  const unexpected = differences(texts).filter((found) => found !== undefined && !behindDocument.test(found));
  assert.deepEqual(unexpected.length, 0, unexpected.slice(0, 20).join('\n'));
});

/** What follows the value of a document, which can be a template's action: see deliberate.ts. */
const behindDocument = /the document ends before this|CNI_GATE_INPUT_TEMPLATE/;

/** Texts with a line that ends a document, with a directive, or with a document of tabs: see deliberate.ts. */
const isDeliberate = (text: string): boolean =>
  /^(?:\.\.\.|%)/m.test(text) || text.split(/^---.*$/m).some((document) => /^\s*\t\s*$/.test(document));
