import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkShape } from '../../../webhook/lib/json-shape.ts';
import { jsonShape } from '../../../webhook/lib/limits.ts';
import { inChangingOrder, withEscapedKeys } from '../../support/costly-json.ts';
import { growth } from '../../support/growth.ts';

const many = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => make(index)).join();
const check = (text: string): void => checkShape(Buffer.from(text));
const tooLarge = { code: 'CNI_GATE_REVIEW_TOO_LARGE' };
const filler = `"x":"${'x'.repeat(jsonShape.small)}"`;

test('different keys are counted over all objects, and objects with the same keys once', () => {
  // `x` is one of them
  check(`{${filler},${many(jsonShape.shapes - 1, (index) => `"k${index}":1`)}}`);
  assert.throws(() => check(`{${filler},${many(jsonShape.shapes, (index) => `"k${index}":1`)}}`), tooLarge);
  assert.throws(() => check(`[${many(jsonShape.shapes + 1, (index) => `{"${index}" : 1}`)}]`), tooLarge);
  check(`[${many(80_000, () => '{"name":1,"value":{"a":2}}')}]`);
});

test('a few keys in ever different order are many shapes, and in one order they are few', () => {
  assert.throws(() => check(inChangingOrder(6000)), tooLarge);
  check(`[${many(6000, () => inChangingOrder(1))}]`);
});

test('escaped characters tell keys apart', () => {
  assert.throws(() => check(withEscapedKeys(400)), tooLarge);
  check(`[${many(400, () => withEscapedKeys(1))}]`);
});

test('nested objects and lists each have their own keys', () => {
  check(`[${many(20_000, (index) => `{"a":{"b":[{"c":${index}}]},"d":1}`)}]`);
  check(`${']}'.repeat(50_000)}${'[{'.repeat(50_000)}"a":1`);
});

test('strings are counted, keys among them', () => {
  check(`[${many(jsonShape.strings, () => '"a"')}]`);
  assert.throws(() => check(`[${many(jsonShape.strings + 1, () => '"a"')}]`), tooLarge);
  assert.throws(() => check(`[${many(jsonShape.strings / 2, () => '{"a":"a"}')},"a"]`), tooLarge);
});

test('what looks like keys inside of texts is text', () => {
  check(JSON.stringify({ x: many(100_000, (index) => `"k${index}":1`) }));
  check(JSON.stringify({ x: `\\"${many(80_000, (index) => `"k${index}":`)}` }));
});

test('a text that is no JSON, or does not end, is left to the parser', () => {
  for (const end of ['"', '"\\', ':', '{"a":', '"'.repeat(3)]) check(`{${filler}${end}`);
});

test('the work grows with the text', () => {
  const work = (size: number) => {
    const text = Buffer.from(`[${many(size, (index) => `{"k${index % jsonShape.shapes}":1}`)}]`);
    return () => checkShape(text);
  };
  assert.ok(growth(work) <= 8 || growth(work) <= 8 || growth(work) <= 8);
});
