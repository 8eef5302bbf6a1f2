import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toleratesAll } from '../../../../webhook/nodes/scheduling/taints.ts';

test('a toleration goes by its operator, and one that is not known tolerates nothing', () => {
  const taint = { key: 'gpu', value: 'yes', effect: 'NoSchedule' };
  const tolerates = (operator: string, value = 'yes'): boolean =>
    toleratesAll([{ key: 'gpu', operator, value }], [taint]);
  assert.deepEqual([tolerates(''), tolerates('Equal'), tolerates('Exists', '')], [true, true, true]);
  assert.deepEqual([tolerates('', 'no'), tolerates('Equal', 'no')], [false, false]);
  assert.deepEqual([tolerates('Like'), tolerates('Lt', '')], [false, false]);
});
