import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { decodePodRequest } from '../../../webhook/admission/decode.ts';
import { CniGateError } from '../../../webhook/lib/errors.ts';
import { copyOf, patched } from '../../support/answers.ts';
import { recorded, reviewOf } from '../../support/reviews.ts';

const pod = { metadata: { name: 'a' }, spec: { containers: [{ name: 'app' }] } };

/** The text for a pod's review with one place of it changed. */
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

const invalid: [string, unknown, string][] = [
  [
    '/apiVersion',
    'admission.k8s.io/v1beta1',
    'expected AdmissionReview of admission.k8s.io/v1, got kind "AdmissionReview" of "admission.k8s.io/v1beta1"',
  ],
  [
    '/kind',
    'Pod',
    'expected AdmissionReview of admission.k8s.io/v1, got kind "Pod" of "admission.k8s.io/v1"',
  ],
  [
    '/kind',
    undefined,
    'expected AdmissionReview of admission.k8s.io/v1, got kind nothing of "admission.k8s.io/v1"',
  ],
  ['/request', undefined, 'the AdmissionReview has no request, but nothing'],
  ['/request', null, 'the AdmissionReview has no request, but null'],
  ['/request', [1, 2], 'the AdmissionReview has no request, but a list of 2'],
  ['/request/uid', '', 'request.uid is missing'],
  ['/request/uid', 7, 'request.uid is missing'],
  ['/request/object', null, 'request.object should be the pod, is null'],
  ['/request/object', undefined, 'request.object should be the pod, is nothing'],
  ['/request/object', 'pod', 'request.object should be the pod, is "pod"'],
  ['/request/object', 'x'.repeat(100), `request.object should be the pod, is "${'x'.repeat(59)}`],
  ['/request/object/spec', undefined, "request.object must have required property 'spec'"],
  ['/request/object/metadata', null, 'request.object/metadata must be object'],
  ['/request/object/metadata/labels', { a: 1 }, 'request.object/metadata/labels/a must be string'],
  ['/request/object/spec/containers', {}, 'request.object/spec/containers must be array'],
  [
    '/request/object/spec/containers/0/name',
    undefined,
    "request.object/spec/containers/0 must have required property 'name'",
  ],
  ['/request/object/spec/initContainers', [null], 'request.object/spec/initContainers/0 must be object'],
  [
    '/request/object/spec/containers/0/resources',
    { limits: { cpu: true } },
    'request.object/spec/containers/0/resources/limits/cpu must be string,number,null',
  ],
  [
    '/request/object/spec/securityContext',
    { runAsUser: '0' },
    'request.object/spec/securityContext/runAsUser must be integer',
  ],
  ['/request/object/spec/hostNetwork', 'yes', 'request.object/spec/hostNetwork must be boolean'],
];

suite('decodePodRequest', () => {
  for (const [path, value, text] of invalid) {
    test(`${path} ${JSON.stringify(value)?.slice(0, 60)}`, () => {
      assert.equal(refusal(path, value), `CNI_GATE_REVIEW_INVALID: ${text}`);
    });
  }

  test('bodies that are not objects are rejected', () => {
    assert.equal(textFor(null), 'CNI_GATE_REVIEW_INVALID: expected an AdmissionReview, got null');
    assert.equal(textFor([{}]), 'CNI_GATE_REVIEW_INVALID: expected an AdmissionReview, got a list of 1');
    assert.equal(textFor(undefined), 'CNI_GATE_REVIEW_INVALID: expected an AdmissionReview, got nothing');
  });

  test('the error for a review of another kind says what to check', () => {
    const hint = 'look at the rules of the webhook configuration';
    const binding = recorded('binding-meshed');
    assert.equal(
      textFor(binding),
      `CNI_GATE_REVIEW_KIND: expected request.kind Pod of v1, got "Binding" of v1: ${hint}`,
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

  test('a pod without containers is accepted: the API server refuses it later', () => {
    const none = { metadata: {}, spec: { containers: null } };
    assert.equal(textFor(reviewOf(none)), 'decoded');
  });

  test('a null in a map becomes the value that the API server reads', () => {
    const labels = JSON.parse('{"a": null, "__proto__": null, "b": "c"}');
    const resources = { requests: { cpu: null, memory: '1Gi' }, limits: { cpu: null } };
    const sent = {
      metadata: { name: null, generateName: null, namespace: null, labels, annotations: { a: null } },
      spec: {
        nodeSelector: { a: null },
        imagePullSecrets: [null, { name: 'mirror' }],
        resources: { requests: { cpu: null } },
        initContainers: [{ name: 'migrate', resources }],
        containers: [{ name: 'app', resources }],
      },
    };
    const { pod: decoded } = decodePodRequest(copyOf(reviewOf(sent)));
    const filled = { requests: { cpu: '0', memory: '1Gi' }, limits: { cpu: '0' } };
    assert.deepEqual(copyOf(decoded), {
      metadata: {
        ...{ name: '', generateName: '', namespace: '' },
        labels: JSON.parse('{"a": "", "__proto__": "", "b": "c"}'),
        annotations: { a: '' },
      },
      spec: {
        nodeSelector: { a: '' },
        imagePullSecrets: [{}, { name: 'mirror' }],
        resources: { requests: { cpu: '0' } },
        initContainers: [{ name: 'migrate', resources: filled }],
        containers: [{ name: 'app', resources: filled }],
      },
    });
  });

  test('null means absent wherever a manifest can have it', () => {
    const nulls = {
      metadata: { labels: null, annotations: null, ownerReferences: null },
      spec: {
        ...{
          containers: [{ name: 'a', env: null, resources: null, securityContext: null, volumeMounts: null }],
        },
        ...{ initContainers: null, volumes: null, imagePullSecrets: null, nodeSelector: null, os: null },
        ...{
          hostNetwork: null,
          resources: { requests: null, limits: null },
          securityContext: { runAsUser: null },
        },
      },
    };
    assert.equal(textFor(reviewOf(nulls)), 'decoded');
  });
});
