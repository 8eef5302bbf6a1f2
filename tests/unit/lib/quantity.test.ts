import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quantity } from '../../../webhook/lib/quantity.ts';

test('quantities in every spelling', () => {
  const cases: Record<string, number> = {
    ...{ 0: 0, '2.5': 2.5, '.5': 0.5, '5.': 5, '+1': 1, '-1': -1, '1e3': 1000, '1E3': 1000, '12E-1': 1.2 },
    ...{
      '700m': 0.7,
      '100u': 1e-4,
      '100n': 1e-7,
      '1k': 1000,
      '1Ki': 1024,
      '1.5Gi': 1.5 * 2 ** 30,
      '1E': 1e18,
    },
  };
  for (const [text, expected] of Object.entries(cases)) assert.equal(quantity(text), expected, text);
  assert.equal(quantity(2), 2);
});

test('a text that is not a quantity gives no number, whatever JavaScript makes of it', () => {
  const texts = 'x 1x 1kb 1.2.3 0x10 1_000 Infinity NaN 1toString'.split(' ');
  for (const text of ['', ' 1', '1 ', ...texts]) {
    assert.ok(Number.isNaN(quantity(text)), text);
  }
});
