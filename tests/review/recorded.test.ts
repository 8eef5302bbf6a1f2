import assert from 'node:assert/strict';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { mutate } from '../../webhook/admission/mutate.ts';
import { readPolicy } from '../../webhook/config/load.ts';
import { FixedNamespaces } from '../../webhook/core/facts/namespace.ts';
import { folderWith } from '../support/folder.ts';
import { recordedPods as pods, recorded } from '../support/reviews.ts';
import { command, namespaceOf, pod, reviewFiles, reviewText } from './support.ts';

const profile = 'cilium.linkerd.multus';
const json = (name: string): string => JSON.stringify(recorded(name));

/** The answers of the server's own code to recorded reviews, in one line each. */
async function expected(
  of: readonly string[],
  namespaces = new FixedNamespaces(new Map(), profile),
): Promise<string> {
  const policy = readPolicy(undefined);
  const answers = of.map(async (name) => (await mutate(recorded(name), { policy, namespaces })).review);
  return (await Promise.all(answers)).map((answer) => `${JSON.stringify(answer)}\n`).join('');
}

const items = pods.map((name) => recorded(name));
const streams: [what: string, text: string][] = [
  ['one on each line', pods.map(json).join('\n')],
  ['indented', items.map((item) => JSON.stringify(item, null, 2)).join('\n')],
  ['YAML documents', items.map((item) => stringify(item)).join('---\n')],
  ['a list', JSON.stringify(items)],
  ['a List', stringify({ apiVersion: 'v1', kind: 'List', items })],
];

for (const [what, text] of streams) {
  test(`recorded reviews, ${what}: the server's answers in their order`, async (t) => {
    const reviewed = await reviewText(t, text, { profile });
    assert.equal(reviewed.answers(), await expected(pods));
  });
}

test('--output json prints the answers; reviews of other kinds are counted', async (t) => {
  const folder = folderWith(t, { 'a.json': [...pods, 'binding-deployment-web'].map(json).join('\n') });
  const { status, output, messages } = await command('-f', folder, '--profile', profile, '-o', 'json');
  assert.deepEqual([status, output, messages], [0, await expected(pods), '']);
  const { output: text } = await command('-f', folder, '--profile', profile);
  assert.match(text, /1 other object \(AdmissionReview of Binding 1\)/);
});

test('a broken review is an error, and the others are answered', async (t) => {
  const head = '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"';
  const unnamed = { metadata: {}, spec: { containers: [{}] } };
  const broken = [
    `${head}}`,
    '{"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","request":{"uid":"1"}}',
    `${head},"request":{"uid":"1","kind":{"version":"v1","kind":"Pod"},"object":${JSON.stringify(unnamed)}}}`,
    `${head},"request":{"uid":"1"}}`,
  ];
  const text = [json('pod-meshed'), ...broken, json('pod-ad-hoc')].join('\n');
  const reviewed = await reviewText(t, text, { profile });
  assert.equal(reviewed.answers(), await expected(['pod-meshed', 'pod-ad-hoc']));
  assert.deepEqual(
    reviewed.report.faults.map(({ line, code }) => [line, code.slice('CNI_GATE_REVIEW_'.length)]),
    [
      [2, 'INVALID'],
      [3, 'INVALID'],
      [4, 'INVALID'],
      [5, 'KIND'],
    ],
  );
  assert.match(reviewed.faults[2] ?? '', /request\.object\.spec\.containers\[0\] must have .* 'name'/);
});

test("a review's namespace comes from the input; without it the pod is refused, as by the server", async (t) => {
  const known = new FixedNamespaces(new Map([['shop', { 'cni-gate.io/profile': 'cilium' }]]));
  const files = { 'a.json': json('pod-deployment-web'), 'b.yaml': namespaceOf('shop', 'cilium') };
  const reviewed = await reviewFiles(t, files);
  assert.equal(reviewed.answers(), await expected(['pod-deployment-web'], known));
  const unknown = await reviewText(t, json('pod-deployment-web'));
  assert.deepEqual(unknown.reported, ['refused CNI_GATE_NAMESPACE_UNKNOWN Pod shop/web-7fdb9d4559-*']);
});

test('with manifests, and in other outputs, a review counts as a workload', async (t) => {
  const review = JSON.stringify(recorded('pod-meshed'), null, 2);
  const reviewed = await reviewFiles(t, { 'a.json': review, 'b.yaml': pod('plain') }, { profile });
  const injected = ['injected profile-applies Pod shop/meshed', 'injected profile-applies Pod shop/plain'];
  assert.deepEqual(reviewed.reported, injected);
  const paths = reviewed.report.reviewed[0]?.decision.operations.map(({ path }) => path) ?? [];
  assert.ok(paths.every((path) => path.startsWith('/request/object/')));
  const [patched = ''] = reviewed.yaml().split('---\n');
  assert.equal(JSON.parse(patched).request.object.spec.initContainers[0].name, 'cni-gate-validator');
  assert.match(reviewed.text(), /^\+ {12}"name": "cni-gate-validator",$/m);
});
