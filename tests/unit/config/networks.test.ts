import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseNetworks } from '../../../webhook/core/profiles/multus-networks.ts';

// tests/unit/core/proof/plan.test.ts tests what Multus reads, and how lists are merged
test('an empty namespace or interface counts as absent, as in Multus', () => {
  const entries = [{ name: 'a' }];
  assert.deepEqual(parseNetworks('[{"name":"a","namespace":"","interface":null}]')?.entries, entries);
  assert.deepEqual(parseNetworks('/a@')?.entries, entries);
});

test('texts that Multus cannot read', () => {
  const unreadable = [
    ...['a,', ',', 'a@b@c', 'a/b/c', 'A', '-a', 'a b', 'net/', '@x', `a@${'x'.repeat(16)}`],
    ...['{', '[', '{}', '{"name":"a"}', '["a"]', '[null]', '[[]]', '"a"', '[{"name":1}]', '[{}]'],
    ...[
      '[{"name":"net/a"}]',
      '[{"name":"a","interface":7}]',
      '[{"name":"a","namespace":"A B"}]',
      '[{"name":"a"}]x',
    ],
  ];
  for (const text of unreadable) assert.equal(parseNetworks(text), undefined, text);
});
