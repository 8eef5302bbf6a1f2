import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { heapCostOf } from '../../../webhook/server/json-cost.ts';
import { recorded } from '../../support/reviews.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const elements = 50_000;
const list = (element: (index: number) => string): string =>
  `[${Array.from({ length: elements }, (_, index) => element(index)).join(',')}]`;
const name = (index: number): string => index.toString(36);

/** Lists whose elements cost as much as possible, each in another way. */
const shapes: Record<string, string> = {
  'empty objects': list(() => '{}'),
  'empty lists': list(() => '[]'),
  'lists of one': list(() => '[1]'),
  'lists in lists': list(() => '[[]]'),
  'objects with a far index': list(() => '{"30":1}'),
  'objects with a very far index': list(() => '{"9999999":1}'),
  'objects of many shapes': list((index) => `{"${name(index)}":1}`),
  'objects of two new keys': list((index) => `{"${name(index)}":1,"b${name(index)}":2}`),
  'objects in objects': list(() => '{"":{}}'),
  fractions: list(() => '1.5,""'),
  'short texts': list((index) => `"${name(index)}"`),
  'one object of many keys': `{${Array.from({ length: elements }, (_, index) => `"${name(index)}":{}`).join(',')}}`,
  'one text beyond Latin-1': JSON.stringify('€'.repeat(elements)),
};

test('the estimate is never below what V8 takes', () => {
  for (const [shape, text] of Object.entries(shapes)) {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    const parsed: unknown = JSON.parse(text);
    collectGarbage();
    const took = process.memoryUsage().heapUsed - before;
    const estimate = heapCostOf(Buffer.from(text), 10);
    assert.ok(parsed !== undefined && took <= estimate, `${shape}: took ${took}, estimated ${estimate}`);
  }
});

test('a review of a real pod is estimated at less than 30 times its size', () => {
  const text = Buffer.from(JSON.stringify(recorded('pod-deployment-web')));
  assert.ok(heapCostOf(text, 256) < 30 * text.length);
});

test('a text that is short and has few brackets is never estimated lower than one that is scanned', () => {
  const padding = ' '.repeat(64 * 1024);
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), (text) => {
      const scanned = heapCostOf(Buffer.from(text + padding), 256) - 2 * padding.length;
      assert.ok(heapCostOf(Buffer.from(text), 256) >= scanned, text);
    }),
  );
  for (const unit of ['1,', '"":1,', '{},', '[],', '{"":1},']) {
    const text = `[${unit.repeat(100)}1]`;
    const scanned = heapCostOf(Buffer.from(text + padding), 256) - 2 * padding.length;
    assert.ok(heapCostOf(Buffer.from(text), 256) >= scanned, unit);
  }
});

test('brackets and quotes in texts are texts', () => {
  const inside = JSON.stringify('[{,:"\\'.repeat(10_000));
  assert.equal(heapCostOf(Buffer.from(inside), 0), 2 * inside.length);
});

test('depth counts open levels only, and is bounded exactly', () => {
  assert.ok(heapCostOf(Buffer.from(`[${'[],'.repeat(1000)}[]]`), 2) > 0);
  const deep = (levels: number): Buffer => Buffer.from('['.repeat(levels) + ']'.repeat(levels));
  assert.ok(heapCostOf(deep(256), 256) > 0);
  assert.throws(() => heapCostOf(deep(257), 256), { code: 'CNI_GATE_REVIEW_INVALID' });
});

test('what is no JSON is counted as well, without an end', () => {
  for (const text of ['', '"', '"\\', '{"a', ']]]]', '\\"']) {
    assert.ok(heapCostOf(Buffer.from(text), 10) >= 0, text);
  }
});
