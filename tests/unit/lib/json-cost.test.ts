import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { jsonCost, slowJson } from '../../../webhook/lib/json-cost.ts';
import { jsonShape } from '../../../webhook/lib/limits.ts';
import { inChangingOrder, withEscapedKeys } from '../../support/costly-json.ts';

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const heapOf = (text: string): number => jsonCost(Buffer.from(text)).heap;
const elements = 20_000;
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
  'an object of indexes': `{${Array.from({ length: 15_000 }, (_, index) => `"${index * 20}":1`).join()}}`,
  'objects of sparse indexes': `[${`{${Array.from({ length: 50 }, (_, index) => `"${index < 49 ? index : 1000}":1`).join()}},`.repeat(400)}1]`,
  'objects of many shapes': list((index) => `{"${name(index % 15_000)}":1}`),
  'objects of two new keys': list((index) => `{"${name(index % 7000)}":1,"b${name(index % 7000)}":2}`),
  'objects in objects': list(() => '{"":{}}'),
  fractions: list(() => '1.5,""'),
  'short texts': list((index) => `"${name(index)}"`),
  'one object of many keys': `{${Array.from({ length: 15_000 }, (_, index) => `"${name(index)}":{}`).join(',')}}`,
  'one text beyond Latin-1': JSON.stringify('€'.repeat(elements)),
};

test('the estimate is never below what V8 takes', () => {
  for (const [shape, text] of Object.entries(shapes)) {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    const parsed: unknown = JSON.parse(text);
    collectGarbage();
    const took = process.memoryUsage().heapUsed - before;
    const { heap: estimate, slow } = jsonCost(Buffer.from(text));
    assert.equal(slow, undefined, shape);
    assert.ok(parsed !== undefined && took <= estimate, `${shape}: took ${took}, estimated ${estimate}`);
  }
});

test('a text that is short and has few brackets is never estimated lower than one that is scanned', () => {
  const padding = ' '.repeat(64 * 1024);
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), (text) => {
      const scanned = heapOf(text + padding) - 2 * padding.length;
      assert.ok(heapOf(text) >= scanned, text);
    }),
  );
  for (const unit of ['1,', '"":1,', '{},', '[],', '{"":1},']) {
    const text = `[${unit.repeat(100)}1]`;
    const scanned = heapOf(text + padding) - 2 * padding.length;
    assert.ok(heapOf(text) >= scanned, unit);
  }
});

test('depth counts open levels only, and is bounded exactly', () => {
  const deep = (levels: number): Buffer => Buffer.from('['.repeat(levels) + ']'.repeat(levels));
  assert.equal(jsonCost(Buffer.from(`[${'[],'.repeat(1000)}[]]`)).isTooDeep, false);
  assert.deepEqual(
    [deep(256), deep(257)].map((text) => jsonCost(text).isTooDeep),
    [false, true],
  );
});

const many = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => make(index)).join();
const slow = (text: string): string | undefined => slowJson(Buffer.from(text));
const filler = `"x":"${'x'.repeat(jsonShape.small)}"`;
const [tooManyShapes, tooManyStrings] = [
  `${jsonShape.shapes} shapes of objects`,
  `${jsonShape.strings} strings`,
];
// two of 16,384 keys may have one hash of 32 bits
const more = jsonShape.shapes + 16;

const texts: [what: string, text: string, slow: string | undefined][] = [
  // `x` is one of them
  ['as many keys as allowed', `{${filler},${many(jsonShape.shapes - 1, (i) => `"k${i}":1`)}}`, undefined],
  ['too many keys', `{${filler},${many(more, (i) => `"k${i}":1`)}}`, tooManyShapes],
  ['too many objects of one key', `[${many(more, (i) => `{"${i}" : 1}`)}]`, tooManyShapes],
  ['many objects with the same keys', `[${many(80_000, () => '{"name":1,"value":{"a":2}}')}]`, undefined],
  ['a few keys in ever different order', inChangingOrder(6000), tooManyShapes],
  ['a few keys in one order', `[${many(6000, () => inChangingOrder(1))}]`, undefined],
  ['keys that differ by escaped characters', withEscapedKeys(400), tooManyShapes],
  ['nested objects', `[${many(20_000, (i) => `{"a":{"b":[{"c":${i}}]},"d":1}`)}]`, undefined],
  ['as many strings as allowed', `[${many(jsonShape.strings, () => '"a"')}]`, undefined],
  ['too many strings', `[${many(jsonShape.strings / 2, () => '{"a":"a"}')},"a"]`, tooManyStrings],
  ['what looks like keys in a text', JSON.stringify({ x: many(100_000, (i) => `"k${i}":1`) }), undefined],
];
for (const [what, text, expected] of texts) {
  test(`${what}: ${expected ?? 'not slow'}`, () => assert.equal(slow(text), expected));
}

test('a text that is no JSON, or does not end, has a cost', () => {
  for (const text of ['', '"', '"\\', '{"a', ']]]]', '\\"', ':', '{"a":', '"'.repeat(3)]) {
    assert.ok(heapOf(text) >= 0, text);
    assert.equal(slow(`{${filler}${text}`), undefined);
  }
});
