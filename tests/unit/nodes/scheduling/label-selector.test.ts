import assert from 'node:assert/strict';
import { test } from 'node:test';
import { selectorText } from '../../../../webhook/nodes/scheduling/label-selector.ts';

test('a selector is written in the form of a query', () => {
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

test('an empty selector has no query, which would select every pod', () => {
  assert.equal(selectorText({}), undefined);
  assert.equal(selectorText({ matchLabels: {}, matchExpressions: null }), undefined);
});
