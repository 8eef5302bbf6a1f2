import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { mergeNetworks } from '../../../../webhook/core/profiles/multus-networks.ts';

/** [the pod's, the profile's, what comes of it, warnings] */
const cases: [string, string, string, string[]?][] = [
  ['a', 'b', 'a, b'],
  ['a', 'a', 'a'],
  [' a,b ', 'b, c', ' a,b, c'],
  ['', 'a, net/b@x', 'a, net/b@x'],
  ['  ', 'a', 'a'],
  // the namespace of the pod may be written out or left out
  ['shop/a', 'a', 'shop/a'],
  ['a', 'shop/a, net/a', 'a, net/a'],
  // each entry of the pod stands for one of the profile's, the same interface first
  ['a', 'a, a', 'a, a'],
  ['a@x', 'a@y, a@x', 'a@x, a@y'],
  ['a@x, a@y', 'a, a', 'a@x, a@y'],
  ['a', 'a@x', 'a', ["the pod's own entry wins: shop/a differs in interface"]],
  ['a@y', 'a@x', 'a@y', ["the pod's own entry wins: shop/a differs in interface"]],
  ['b@x', 'a@x', 'b@x', ["the pod's own entry wins: x is taken, so shop/a was not added"]],
  ['a', '[{"name":"b"}]', 'a, b'],
  [
    'a, n/b@x',
    '[{"name":"c","mac":"m"}]',
    '[{"name":"a"},{"name":"b","namespace":"n","interface":"x"},{"name":"c","mac":"m"}]',
  ],
  ['[]', 'a', '[{"name":"a"}]'],
  ['[ ]\n', 'n/a@x', '[{"name":"a","namespace":"n","interface":"x"}]'],
  ['[ {"name":"a" } ]', 'b', '[ {"name":"a" },{"name":"b"}]'],
  ['[{"name":"a]"}]', 'b', '[{"name":"a]"}]', ["the pod's own list cannot be read, so nothing was added"]],
  ['[{"name":"a","x":"]"}]', 'b', '[{"name":"a","x":"]"},{"name":"b"}]'],
  [
    '[{"name":"a","mtu":9000}]',
    '[{"name":"a","mtu":1500}]',
    '[{"name":"a","mtu":9000}]',
    ["the pod's own entry wins: shop/a differs in mtu"],
  ],
  ['not, a list,', 'a', 'not, a list,', ["the pod's own list cannot be read, so nothing was added"]],
];

suite('mergeNetworks', () => {
  for (const [pod, profile, value, kept = []] of cases) {
    test(`${JSON.stringify(pod)} and ${JSON.stringify(profile)}`, () => {
      assert.deepEqual(mergeNetworks(pod, profile, 'shop'), { value, kept });
    });
  }
});
