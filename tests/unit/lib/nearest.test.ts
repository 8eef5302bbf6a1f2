import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nearest } from '../../../webhook/lib/nearest.ts';

const names = ['aws-vpc-cni', 'cilium', 'istio-ambient', 'istio', 'linkerd', 'multus'];

const meant: [string, string | undefined][] = [
  ['likerd', 'linkerd'],
  ['linkred', 'linkerd'],
  ['Linkerd', 'linkerd'],
  ['linkerdd', 'linkerd'],
  ['cillium', 'cilium'],
  ['itsio', 'istio'],
  ['istio-ambiant', 'istio-ambient'],
  ['aws-vpc-cin', 'aws-vpc-cni'],
  ['calico', undefined],
  ['nowhere', undefined],
  ['', undefined],
  ['x', undefined],
  ['l'.repeat(64), undefined],
];

for (const [word, name] of meant) {
  test(`"${word.slice(0, 20)}" is near ${name ?? 'none'}`, () => assert.equal(nearest(word, names), name));
}

test('one letter that is missing, added, replaced or swapped is found in any name of three letters or more', () => {
  const name = fc.stringMatching(/^[a-z]{4,20}$/);
  fc.assert(
    fc.property(name, fc.nat(19), fc.constantFrom('drop', 'add', 'replace', 'swap'), (word, place, slip) => {
      const at = place % (word.length - 1);
      const [head, letter, next, tail] = [
        word.slice(0, at),
        word[at] ?? '',
        word[at + 1] ?? '',
        word.slice(at + 2),
      ];
      const typed = {
        drop: head + next + tail,
        add: `${head}${letter}0${next}${tail}`,
        replace: `${head}0${next}${tail}`,
        swap: head + next + letter + tail,
      }[slip];
      assert.equal(nearest(typed, [word]), word);
    }),
  );
});
