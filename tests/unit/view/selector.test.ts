import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectorText } from '../../../webhook/scheduling/label-selector.ts';

test('a selector is written as a query has it', () => {
  const matchExpressions = [
    { key: 'tier', operator: 'In', values: ['a', 'b'] },
    { key: 'zone', operator: 'NotIn', values: ['c'] },
    { key: 'node', operator: 'Exists' },
    { key: 'old', operator: 'DoesNotExist' },
  ];
  assert.equal(
    selectorText({ matchLabels: { app: 'agent' }, matchExpressions }),
    'app=agent,tier in (a,b),zone notin (c),node,!old',
  );
});

test('one that is empty is no query: it would bring every pod', () => {
  assert.equal(selectorText({}), undefined);
  assert.equal(selectorText({ matchLabels: {}, matchExpressions: null }), undefined);
});
