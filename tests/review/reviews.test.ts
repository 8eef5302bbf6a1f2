import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { stringify } from 'yaml';
import { mutate } from '../../webhook/admission/mutate/mutate.ts';
import { FixedNamespaces } from '../../webhook/admission/namespaces.ts';
import { readPolicy } from '../../webhook/config/load.ts';
import { recorded } from '../support/reviews.ts';
import { namespaceOf, pod, reviewFiles, reviewText } from './support.ts';

const names = readdirSync(new URL('../reviews/', import.meta.url)).map((name) => name.replace('.json', ''));
const pods = names.filter((name) => name.startsWith('pod-'));
const bindings = names.filter((name) => name.startsWith('binding-'));
const profile = 'cilium.linkerd.multus';

/** The answers of the server's code, each as it would be sent. */
async function expected(
  of: string[],
  namespaces = new FixedNamespaces(new Map(), profile),
): Promise<string[]> {
  const policy = readPolicy(undefined);
  const answers = of.map(async (name) => (await mutate(recorded(name), { policy, namespaces })).review);
  return (await Promise.all(answers)).map((answer) => JSON.stringify(answer));
}

const json = (name: string): string => JSON.stringify(recorded(name));

const streams: [what: string, text: string][] = [
  ['one after another without anything between', pods.map(json).join('')],
  ['one on each line', pods.map(json).join('\n')],
  ['indented', pods.map((name) => JSON.stringify(recorded(name), null, 2)).join('\n')],
  ['as YAML documents', pods.map((name) => stringify(recorded(name))).join('---\n')],
  ['as JSON between dashes', pods.map(json).join('\n---\n')],
];

for (const [what, text] of streams) {
  test(`reviews ${what}: answers in order, one on each line`, async (t) => {
    const reviewed = await reviewText(t, text, { profile });
    assert.equal(reviewed.report.reviewsOnly, true);
    assert.deepEqual(reviewed.answers().split('\n'), [...(await expected(pods)), '']);
  });
}

test('a list of reviews: answers in order, one on each line', async (t) => {
  const answers = await expected(pods);
  const items = pods.map((name) => recorded(name));
  for (const list of [
    items,
    { apiVersion: 'v1', kind: 'List', items },
    { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReviewList', items },
  ]) {
    for (const text of [JSON.stringify(list), JSON.stringify(list, null, 2), stringify(list)]) {
      const reviewed = await reviewText(t, text, { profile });
      assert.equal(reviewed.answers(), `${answers.join('\n')}\n`);
    }
  }
});

test('reviews of other kinds are counted and not answered', async (t) => {
  const text = [...bindings, 'pod-meshed'].map(json).join('\n');
  const reviewed = await reviewText(t, text, { profile });
  assert.equal(reviewed.answers(), `${(await expected(['pod-meshed'])).join('')}\n`);
  assert.deepEqual(reviewed.summary.otherObjects, { 'AdmissionReview of Binding': bindings.length });
  assert.deepEqual(reviewed.faults, []);
});

test('a broken review is an error, and the others are answered', async (t) => {
  const broken = [
    '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview"}',
    '{"apiVersion":"admission.k8s.io/v1beta1","kind":"AdmissionReview","request":{"uid":"1"}}',
    '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","kind":{"version":"v1","kind":"Pod"},"object":{"metadata":{},"spec":{"containers":[{}]}}}}',
    '{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1"}}',
  ];
  const text = [json('pod-meshed'), ...broken, json('pod-ad-hoc'), '{"apiVersion":"admission'].join('\n');
  const reviewed = await reviewText(t, text, { profile });
  assert.equal(reviewed.answers(), `${(await expected(['pod-meshed', 'pod-ad-hoc'])).join('\n')}\n`);
  assert.deepEqual(
    reviewed.report.faults.map(({ line, code }) => [line, code]),
    [
      [7, 'CNI_GATE_INPUT_SYNTAX'],
      [2, 'CNI_GATE_REVIEW_INVALID'],
      [3, 'CNI_GATE_REVIEW_INVALID'],
      [4, 'CNI_GATE_REVIEW_INVALID'],
      [5, 'CNI_GATE_REVIEW_KIND'],
    ],
  );
  assert.match(
    reviewed.faults[3] ?? '',
    /request\.object\.spec\.containers\[0\] must have required property 'name'/,
  );
});

test("a review's namespace comes from the input; without it the pod is refused, as by the server", async (t) => {
  const known = new FixedNamespaces(new Map([['shop', { 'cni-gate.io/profile': 'cilium' }]]));
  const reviewed = await reviewFiles(t, {
    'a.json': json('pod-deployment-web'),
    'b.yaml': namespaceOf('shop', 'cilium'),
  });
  assert.equal(reviewed.answers(), `${(await expected(['pod-deployment-web'], known)).join('')}\n`);
  const unknown = await reviewText(t, json('pod-deployment-web'));
  assert.deepEqual(unknown.reported, ['refused CNI_GATE_NAMESPACE_UNKNOWN Pod shop/web-7fdb9d4559-*']);
});

test('with manifests, and in other outputs, a review counts as a workload', async (t) => {
  const reviewed = await reviewFiles(
    t,
    { 'a.json': JSON.stringify(recorded('pod-meshed'), null, 2), 'b.yaml': pod('plain') },
    { profile },
  );
  assert.equal(reviewed.report.reviewsOnly, false);
  assert.deepEqual(reviewed.reported, [
    'injected promised Pod shop/meshed',
    'injected promised Pod shop/plain',
  ]);
  assert.ok(reviewed.json().workloads[0]?.patch.every(({ path }) => path.startsWith('/request/object/')));
  const [review = ''] = reviewed.yaml().split('---\n');
  assert.equal(JSON.parse(review).request.object.spec.initContainers[0].name, 'cni-gate-validator');
  assert.match(reviewed.text(), /^\+ {8}- name: cni-gate-validator$/m);
});
