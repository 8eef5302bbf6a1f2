import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { jsonParts } from '../../../webhook/lib/json-cost.ts';

/** The number of lists, objects, keys and strings in a value. */
function partsOf(value: unknown): number {
  if (typeof value === 'string') return 1;
  if (typeof value !== 'object' || value === null) return 0;
  const keys = Array.isArray(value) ? 0 : Object.keys(value).length;
  return Object.values(value).reduce<number>((sum, item) => sum + partsOf(item), 1 + keys);
}

test('a text has never fewer parts than its value, and as many where its strings have no brackets or quotes', () => {
  const counted = (value: unknown): number => jsonParts(Buffer.from(JSON.stringify(value)));
  fc.assert(fc.property(fc.jsonValue(), (value) => counted(value) >= partsOf(value)));
  const plain = { name: 'a', list: [[], {}, [1.5, null, true]], more: { a: '€', b: 'b' } };
  assert.equal(counted(plain), partsOf(plain));
});

test('a text that is no JSON, or part of a larger buffer, is counted as well', () => {
  for (const [text, parts] of [
    ['', 0],
    ['"', 0.5],
    [']]]', 0],
    ['[[[', 3],
    ['{"a":', 2],
  ] as const)
    assert.equal(jsonParts(Buffer.from(`[[${text}[[`).subarray(2, 2 + text.length)), parts, text);
});
