import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manifests } from './manifests.ts';
import { namespaceOf, pod, reviewFiles, reviewText } from './support.ts';

test('a Namespace after its workloads, in another file or in a List sets the profile', async (t) => {
  const list = `apiVersion: v1\nkind: List\nitems:\n- ${namespaceOf('tools', 'cilium').replaceAll('\n', '\n  ')}`;
  const { reported } = await reviewFiles(t, {
    'a.yaml': manifests(['Pod a', 'Namespace shop cilium']),
    'b.yaml': manifests(['Pod b other', 'Pod c tools']),
    'c.yaml': [namespaceOf('other', 'aws-vpc-cni'), list].join('---\n'),
  });
  assert.deepEqual(reported, [
    'injected profile-applies Pod shop/a',
    'injected profile-applies Pod other/b',
    'injected profile-applies Pod tools/c',
  ]);
});

test("a Namespace's annotations set the ids that a mesh exempts", async (t) => {
  const annotations = {
    'config.linkerd.io/proxy-uid': '64532',
    'config.linkerd.io/proxy-gid': '3000',
    note: 'a',
    odd: 7,
  };
  const reviewed = await reviewText(
    t,
    manifests([
      { namespace: 'shop', profile: 'linkerd', annotations },
      { containers: [{ name: 'linkerd-proxy', image: 'proxy:1' }] },
    ]),
  );
  assert.deepEqual(reviewed.faults, []);
  assert.match(reviewed.yaml(), /"notAsUser":64532,"notAsGroup":3000/);
  assert.match(reviewed.yaml(), /runAsUser: 65534\n\s*runAsGroup: 65534\n/);
});

test("cni-gate's own namespace is exempt, as for the server", async (t) => {
  const text = manifests(
    ['cni-gate', 'proofs'].flatMap((name) => [`Namespace ${name} cilium`, `Pod a ${name}`]),
  );
  for (const own of ['cni-gate', 'proofs']) {
    const { reported } = await reviewText(t, text, { ownNamespace: own });
    const other = own === 'proofs' ? 'cni-gate' : 'proofs';
    assert.deepEqual(reported.toSorted(), [
      `injected profile-applies Pod ${other}/a`,
      `skipped exempt-namespace Pod ${own}/a`,
    ]);
  }
});

test('an invalid Namespace is an error, and the rest is reviewed', async (t) => {
  const wrong = 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: one\n  labels: {a: 1.10}\n';
  const nameless = 'apiVersion: v1\nkind: Namespace\nmetadata: {}\n';
  const text = [wrong, nameless, pod('a')].join('---\n');
  const { faults, reported } = await reviewText(t, text, { profile: 'cilium' });
  assert.deepEqual(faults, [
    '1: Namespace one: expected a string in label a, got a number; put it in quotes',
    '7: a Namespace has no metadata.name',
  ]);
  assert.deepEqual(reported, ['injected profile-applies Pod shop/a']);
});
