import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { isNamespaceName, isObjectName, isUid } from '../../../webhook/lib/object-names.ts';

const label = ['a', '0', 'shop', 'kube-system', 'a--b', 'x'.repeat(63)];
const neither = ['', 'a b', 'a\n', ...'. ../.. -a a- A a_b a/b ä %2e a..b .a a. a.-b a-.b'.split(' ')];

suite('names that Kubernetes allows', () => {
  test('of namespaces', () => {
    for (const name of label) assert.ok(isNamespaceName(name), name);
    for (const name of [...neither, 'a.b', 'x'.repeat(64)]) assert.ok(!isNamespaceName(name), name);
  });

  test('of pods and nodes', () => {
    const long = `${'x'.repeat(126)}.${'y'.repeat(126)}`;
    for (const name of [...label, 'ip-10-0-0-1.ec2.internal', 'coredns-n1', '10.0.0.1', long])
      assert.ok(isObjectName(name), name);
    for (const name of [...neither, `${long}z`]) assert.ok(!isObjectName(name), name);
  });

  test('UIDs', () => {
    for (const uid of ['3c0f6d3e-9a37-4b0c-8d5c-0b1f6f0f3a11', 'u1', 'UPPER', 'x'.repeat(253)])
      assert.ok(isUid(uid), uid);
    for (const uid of ['', '.', '../..', 'a/b', 'a b', 'a\nb', 'x'.repeat(254)]) assert.ok(!isUid(uid), uid);
  });
});
