import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { fitText, inBytes } from '../../../validator/shared/fit-text.ts';
import { errorCodes } from '../../../webhook/lib/errors.ts';

test('a text that is too long is cut after a word, without its comma', () => {
  assert.equal(fitText('one two three four', 10), 'one two…');
  assert.equal(fitText('one two three four', 8), 'one two…');
  assert.equal(fitText('one, two, three, four', 12), 'one, two…');
});

test('an error code at the end stays; elsewhere it is an ordinary word', () => {
  const text = `what is wrong ${'and why '.repeat(20)}(CNI_GATE_INTERNAL)`;
  assert.equal(fitText(text, 48), 'what is wrong and why and… (CNI_GATE_INTERNAL)');
  assert.equal(fitText(`(CNI_GATE_INTERNAL) ${'x '.repeat(20)}`, 24), '(CNI_GATE_INTERNAL) x x…');
});

test('a word longer than half of the limit is cut between two characters', () => {
  assert.equal(fitText(`a ${'🚚'.repeat(20)}`, 10), `a ${'🚚'.repeat(7)}…`);
  assert.equal(fitText('🚚'.repeat(20), 16, inBytes), '🚚🚚🚚…');
});

const words = fc.array(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 12 }), { maxLength: 60 });
const texts = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  words.map((list) => list.join(' ')),
);
const ends = fc.constantFrom('', ...Object.keys(errorCodes).map((code) => ` (${code})`));

for (const [unit, sizeOf] of [
  ['characters', undefined],
  ['bytes', inBytes],
] as const) {
  test(`any text in ${unit}: the result fits, begins as the text does, and keeps the code`, () => {
    const size = (text: string): number => (sizeOf ? Buffer.byteLength(text) : [...text].length);
    fc.assert(
      fc.property(texts, ends, fc.integer({ min: 60, max: 300 }), (body, end, max) => {
        const text = body + end;
        const fitted = fitText(text, max, sizeOf);
        assert.ok(size(fitted) <= max);
        if (size(text) <= max) {
          assert.equal(fitted, text);
          return;
        }
        assert.ok(fitted.endsWith(`…${end}`));
        const kept = fitted.slice(0, fitted.length - end.length - 1);
        assert.ok(text.startsWith(kept));
        assert.ok(fitted.isWellFormed() || !text.isWellFormed());
        const next = body.charAt(kept.length);
        const space = max - size(`…${end}`);
        assert.ok(/[\s,;:]/.test(next) || size(kept) >= space / 2 - 8, `cut inside a word: ${fitted}`);
      }),
      { numRuns: 2000 },
    );
  });
}
