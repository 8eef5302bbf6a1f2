import assert from 'node:assert/strict';
import { test } from 'node:test';
import { growth, typicalGrowth } from '../../support/growth.ts';
import { mostGrowth } from '../../support/hostile-work.ts';

function spin(rounds: number): number {
  let sum = 0;
  for (let round = 0; round < rounds; round += 1) sum += round % 7;
  return sum;
}

test('the measure tells quadratic work from linear work', () => {
  assert.ok(typicalGrowth((size) => () => spin(20 * size * size)) > mostGrowth);
  assert.ok(typicalGrowth((size) => () => spin(size * 1000)) <= mostGrowth);
});

test('work that is done before there is anything to measure does not grow', () => {
  assert.equal(
    growth(() => () => 0),
    0,
  );
});
