import assert from 'node:assert/strict';
import { test } from 'node:test';
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
