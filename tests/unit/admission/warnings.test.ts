import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fitWarnings } from '../../../webhook/admission/respond.ts';
import { errorCodes } from '../../../webhook/lib/errors.ts';

test('120 characters are unchanged, 121 are cut, and a character of four bytes counts once', () => {
  const cut = `${'🚚'.repeat(119)}…`;
  assert.deepEqual(fitWarnings(['x'.repeat(120)]), ['x'.repeat(120)]);
  assert.deepEqual(fitWarnings(['🚚'.repeat(120)]), ['🚚'.repeat(120)]);
  assert.deepEqual(fitWarnings(['🚚'.repeat(121)]), [cut]);
});

test('an error code at the end survives, whatever is cut before it', () => {
  for (const code of Object.keys(errorCodes)) {
    const [text = ''] = fitWarnings([`${'🚚'.repeat(120)}: what is wrong (${code})`]);
    assert.equal([...text].length, 120);
    assert.match(text, new RegExp(`^🚚+… \\(${code}\\)$`, 'u'));
  }
  assert.match(fitWarnings([`(CNI_GATE_INTERNAL) ${'x'.repeat(120)}`])[0] ?? '', /xx…$/);
});

test('a warning is one line, as a header must be', () => {
  assert.deepEqual(fitWarnings(['a\r\n b\t\u0000c \ud800 d\n']), ['a b c d']);
});

test('equal warnings appear once, even if only the cut texts are equal', () => {
  assert.deepEqual(fitWarnings(['a', 'b', 'a']), ['a', 'b']);
  assert.equal(fitWarnings([`${'x'.repeat(130)}1`, `${'x'.repeat(130)}2`]).length, 1);
});

test('past 30 warnings the rest is counted', () => {
  const all = Array.from({ length: 100 }, (_, index) => `${index}`);
  assert.deepEqual(fitWarnings(all), [...all.slice(0, 30), 'and 70 more warnings']);
});
