import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commaText, parseNetworks } from '../../../webhook/config/networks.ts';

test('a comma list, with namespaces and interfaces', () => {
  assert.deepEqual(parseNetworks(' a , net/b@net1,c.d@x.1'), {
    form: 'comma',
    entries: [
      { name: 'a' },
      { name: 'b', namespace: 'net', interface: 'net1' },
      { name: 'c.d', interface: 'x.1' },
    ],
  });
  assert.deepEqual(parseNetworks(''), { form: 'comma', entries: [] });
  assert.deepEqual(parseNetworks('  '), { form: 'comma', entries: [] });
});

test('a JSON list with further fields', () => {
  assert.deepEqual(parseNetworks(' [{"name":"a","ips":["10.0.0.1"]}, {"name":"b","namespace":"net"}] '), {
    form: 'json',
    entries: [
      { name: 'a', ips: ['10.0.0.1'] },
      { name: 'b', namespace: 'net' },
    ],
  });
  assert.deepEqual(parseNetworks('[]'), { form: 'json', entries: [] });
});

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

test('an entry in the form of the comma list, if that form can express it', () => {
  assert.equal(commaText({ name: 'a' }), 'a');
  assert.equal(commaText({ name: 'a', namespace: 'net', interface: 'net1' }), 'net/a@net1');
  assert.equal(commaText({ name: 'a', mac: 'c2:b0:57:49:47:f1' }), undefined);
});
