import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exitCodeOf } from '../../webhook/review/summary.ts';
import { namespaceOf, pod, reviewFiles, reviewText, unwrapped } from './support.ts';

test('a Namespace after its workloads, in another file or in a List sets the profile', async (t) => {
  const list = `apiVersion: v1\nkind: List\nitems:\n- ${namespaceOf('tools', 'cilium').replaceAll('\n', '\n  ')}`;
  const { reported } = await reviewFiles(t, {
    'a.yaml': [pod('a', 'shop'), namespaceOf('shop', 'cilium')].join('---\n'),
    'b.yaml': [pod('b', 'other'), pod('c', 'tools')].join('---\n'),
    'c.yaml': [namespaceOf('other', 'aws-vpc-cni'), list].join('---\n'),
  });
  assert.deepEqual(reported, [
    'injected promised Pod shop/a',
    'injected promised Pod other/b',
    'injected promised Pod tools/c',
  ]);
});

test("a Namespace's annotations set the ids that a mesh exempts", async (t) => {
  const annotations =
    '  annotations: {config.linkerd.io/proxy-uid: "65532", config.linkerd.io/proxy-gid: "3000", note: a, odd: 7}\n';
  const meshed = pod('a').replace(
    '    - name: app\n',
    '    - name: linkerd-proxy\n      image: proxy:1\n    - name: app\n',
  );
  const reviewed = await reviewText(t, [namespaceOf('shop', 'linkerd') + annotations, meshed].join('---\n'));
  assert.deepEqual(reviewed.faults, []);
  const yaml = reviewed.yaml();
  assert.match(yaml, /"notAsUser":65532,"notAsGroup":3000/);
  assert.match(yaml, /runAsUser: 65534\n\s*runAsGroup: 65534\n/);
});

test('workloads of a namespace without the label, or not in the input, are skipped', async (t) => {
  const bare = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: bare}\n';
  const reviewed = await reviewText(
    t,
    [pod('a', 'bare'), bare, pod('b', 'unknown'), namespaceOf('none', 'none'), pod('c', 'none')].join(
      '---\n',
    ),
  );
  assert.deepEqual(reviewed.reported, [
    'skipped not-opted-in Pod bare/a',
    'skipped namespace-not-given Pod unknown/b',
    'skipped not-opted-in Pod none/c',
  ]);
  assert.deepEqual(reviewed.summary.skipped, { 'not-opted-in': 2, 'namespace-not-given': 1 });
});

test('no Namespace opted in: a finding says how', async (t) => {
  const bare = 'apiVersion: v1\nkind: Namespace\nmetadata: {name: bare}\n';
  const reviewed = await reviewText(t, [pod('a', 'bare'), bare].join('---\n'));
  assert.deepEqual(reviewed.findings, ['NOTHING_CHECKED the input']);
  assert.match(
    unwrapped(reviewed.text()),
    /none of 1 workload is in a namespace that opted in: .*cni-gate\.io\/profile.*--profile/,
  );
});

test('a Namespace that is not given: only that is found, as its labels are unknown', async (t) => {
  const reviewed = await reviewText(
    t,
    [pod('a'), namespaceOf('shop', 'cilium'), pod('b', 'x')].join('---\n'),
  );
  assert.deepEqual(reviewed.summary.skipped, { 'namespace-not-given': 1 });
  assert.deepEqual(reviewed.findings, ['NAMESPACE_NOT_GIVEN Namespace x']);
});

test('a missing Namespace or -n is a finding, and fails with --strict', async (t) => {
  const forgotten = await reviewText(t, pod('a', 'shop'));
  assert.deepEqual(forgotten.findings, ['NAMESPACE_NOT_GIVEN Namespace shop']);
  assert.equal(exitCodeOf(forgotten.summary, true), 1);
  assert.equal(exitCodeOf(forgotten.summary, false), 0);
  const elsewhere = await reviewText(t, [namespaceOf('shop', 'cilium'), pod('a', 'default')].join('---\n'));
  assert.deepEqual(elsewhere.findings, ['NAMESPACE_NOT_GIVEN Namespace default']);
  const optedOut = await reviewText(t, [namespaceOf('shop', 'none'), pod('a', 'shop')].join('---\n'));
  assert.deepEqual(optedOut.findings, ['NOTHING_CHECKED the input']);
});

test('an earlier injection in a namespace that did not opt in stays, because the API server does not call', async (t) => {
  const injected = (await reviewText(t, pod('a'), { profile: 'cilium' })).yaml();
  const reviewed = await reviewText(t, injected);
  assert.deepEqual(reviewed.reported, ['skipped namespace-not-given Pod shop/a']);
  assert.equal(reviewed.yaml(), injected);
});

test('--profile opts every namespace in and overrides its label', async (t) => {
  const text = [pod('a'), namespaceOf('shop', 'linkerd'), pod('b', 'unknown')].join('---\n');
  const { report } = await reviewText(t, text, { profile: 'cilium' });
  assert.deepEqual(
    report.reviewed.map(({ verdict }) => verdict.profiles),
    [['cilium'], ['cilium']],
  );
});

test('objects without a namespace are in that of -n', async (t) => {
  const text = [pod('a').replace('  namespace: shop\n', ''), namespaceOf('tools', 'cilium')].join('---\n');
  assert.deepEqual((await reviewText(t, text, { namespace: 'tools' })).reported, [
    'injected promised Pod tools/a',
  ]);
  assert.deepEqual((await reviewText(t, text)).reported, ['skipped namespace-not-given Pod default/a']);
});

test('an invalid Namespace is an error, and the rest is reviewed', async (t) => {
  const wrong = 'apiVersion: v1\nkind: Namespace\nmetadata:\n  name: one\n  labels: {a: 1.10}\n';
  const nameless = 'apiVersion: v1\nkind: Namespace\nmetadata: {}\n';
  const { faults, reported } = await reviewText(t, [wrong, nameless, pod('a')].join('---\n'), {
    profile: 'cilium',
  });
  assert.deepEqual(faults, [
    '1: Namespace one: expected a string in label a, got a number; put it in quotes',
    '7: a Namespace has no metadata.name',
  ]);
  assert.deepEqual(reported, ['injected promised Pod shop/a']);
});

test('an invalid pod is an error in any namespace', async (t) => {
  const { faults } = await reviewText(t, pod('a', 'bare').replace('containers:', 'container:'));
  assert.deepEqual(faults, ["6: Pod bare/a: spec must have required property 'containers'"]);
});
