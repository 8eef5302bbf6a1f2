import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { decodePodRequest } from '../../../webhook/admission/review.ts';
import { CniGateError } from '../../../webhook/lib/errors.ts';
import { patched } from '../../support/answers.ts';
import { recorded, reviewOf } from '../../support/reviews.ts';

const pod = { metadata: { name: 'a' }, spec: { containers: [{ name: 'app' }] } };

function refusal(path: string, value: unknown): string {
  const operation =
    value === undefined ? { op: 'remove' as const, path } : { op: 'add' as const, path, value };
  return textFor(patched(reviewOf(pod) as never, [operation]));
}

function textFor(body: unknown): string {
  try {
    decodePodRequest(body);
  } catch (error) {
    assert.ok(error instanceof CniGateError, String(error));
    return `${error.code}: ${error.message}`;
  }
  return 'decoded';
}

const review = 'expected AdmissionReview of admission.k8s.io/v1, got kind';
const invalid: [string, unknown, string][] = [
  ['/apiVersion', 'admission.k8s.io/v1beta1', `${review} "AdmissionReview" of "admission.k8s.io/v1beta1"`],
  ['/kind', undefined, `${review} nothing of "admission.k8s.io/v1"`],
  ['', null, 'expected an AdmissionReview, got null'],
  ['', [], 'expected an AdmissionReview, got a list of 0'],
  ['/request', [1, 2], 'the AdmissionReview has no request, but a list of 2'],
  ['/request/uid', 7, 'request.uid is missing'],
  ['/request/object', null, 'request.object should be the pod, is null'],
  ['/request/object', 'x'.repeat(100), `request.object should be the pod, is "${'x'.repeat(59)}`],
  ['/request/object/spec', undefined, "request.object must have required property 'spec'"],
  ['/request/object/metadata', null, 'request.object/metadata must be object'],
  ['/request/object/metadata/labels', { a: 1 }, 'request.object/metadata/labels/a must be string'],
  ['/request/object/spec/initContainers', [null], 'request.object/spec/initContainers/0 must be object'],
  ['/request/object/spec/containers', [1], 'request.object/spec/containers/0 must be object'],
  ['/request/object/spec/hostNetwork', 'yes', 'request.object/spec/hostNetwork must be boolean'],
];

suite('decodePodRequest', () => {
  for (const [path, value, text] of invalid) {
    test(`${path} ${JSON.stringify(value)?.slice(0, 60)}`, () => {
      assert.equal(refusal(path, value), `CNI_GATE_REVIEW_INVALID: ${text}`);
    });
  }

  test('the error for a review of another kind says what to check', () => {
    const hint = 'look at the rules of the webhook configuration';
    const binding = recorded('binding-deployment-web');
    assert.equal(
      textFor(binding),
      `CNI_GATE_REVIEW_KIND: expected request.kind Pod of v1, got "Binding" of "v1": ${hint}`,
    );
    assert.equal(
      refusal('/request/kind', undefined),
      `CNI_GATE_REVIEW_KIND: expected request.kind Pod of v1, got nothing: ${hint}`,
    );
    for (const kind of [
      { group: 'apps', version: 'v1', kind: 'Pod' },
      { group: '', version: 'v2', kind: 'Pod' },
    ]) {
      assert.match(refusal('/request/kind', kind), /^CNI_GATE_REVIEW_KIND/);
    }
  });

  test('fields of the request win over fields of the pod', () => {
    const named = { metadata: { name: 'own', namespace: 'lab' }, spec: pod.spec };
    const first = decodePodRequest(reviewOf(named, { name: 'asked', dryRun: true }));
    assert.deepEqual(
      [first.name, first.namespace, first.operation, first.subResource, first.dryRun],
      ['asked', 'shop', 'CREATE', '', true],
    );
    const second = decodePodRequest(reviewOf(named, { namespace: undefined, dryRun: 'yes' }));
    assert.deepEqual([second.name, second.namespace, second.dryRun], ['own', 'lab', false]);
    const generated = { metadata: { generateName: 'web-' }, spec: pod.spec };
    assert.equal(decodePodRequest(reviewOf(generated)).name, 'web-*');
  });
});
