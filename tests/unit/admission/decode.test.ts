import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { gate } from '../../../webhook/admission/gate.ts';
import { decodePlacement } from '../../../webhook/admission/placement.ts';
import { decodePodRequest } from '../../../webhook/admission/review.ts';
import { CniGateError } from '../../../webhook/lib/errors.ts';
import { patched } from '../../support/answers.ts';
import { policyOf } from '../../support/configurations.ts';
import { recorded, reviewOf } from '../../support/reviews.ts';
import { now } from '../core/networks/objects.ts';
import { binding, gateView } from './gate/support.ts';

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
// odd-shapes.test.ts replaces all other values by odd ones
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
  ['/request/object/spec/containers/0/name', null, 'request.object/spec/containers/0/name must be string'],
  [
    '/request/object/metadata/ownerReferences',
    [null],
    'request.object/metadata/ownerReferences/0 must be object',
  ],
  ['/request/object/spec/hostNetwork', 'yes', 'request.object/spec/hostNetwork must be boolean'],
];

suite('decodePodRequest', () => {
  for (const [path, value, text] of invalid) {
    test(`${path} ${JSON.stringify(value)?.slice(0, 60)}`, () => {
      assert.equal(refusal(path, value), `CNI_GATE_REVIEW_INVALID: ${text}`);
    });
  }

  // the API server accepts these values in a pod, and stores an empty value or none
  for (const [path, value] of [
    ['metadata/labels', { a: null, b: 'c' }],
    ['metadata/labels', null],
    ['metadata/annotations', { a: null }],
    ['metadata/annotations', null],
    ['metadata/namespace', null],
    ['metadata/generateName', null],
    ['spec/nodeSelector', { disktype: null }],
    ['spec/imagePullSecrets', [null, { name: null }]],
    ['spec/containers/0/resources', { requests: { cpu: null, memory: '1Gi' } }],
    ['spec/containers/0/env', [{ name: 'A', value: null }]],
  ] as const) {
    test(`${path} ${JSON.stringify(value)} is accepted`, () =>
      assert.equal(refusal(`/request/object/${path}`, value), 'decoded'));
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

  test('fields of the request take precedence over fields of the pod', () => {
    const named = { metadata: { name: 'own', namespace: 'lab' }, spec: pod.spec };
    const first = decodePodRequest(reviewOf(named, { name: 'asked', dryRun: true }));
    assert.deepEqual(
      [first.name, first.namespace, first.operation, first.subResource, first.dryRun],
      ['asked', 'shop', 'CREATE', '', true],
    );
    const second = decodePodRequest(reviewOf(named, { namespace: undefined, dryRun: 'yes' }));
    assert.deepEqual([second.name, second.namespace, second.dryRun], ['own', 'lab', false]);
  });
});

const wrong = { code: 'CNI_GATE_REVIEW_NAME' };
const podKind = { group: '', version: 'v1', kind: 'Pod' };

const bindingOf = (metadata: object, node = 'n1'): object =>
  binding(node, { object: { metadata: { name: 'web-0', uid: 'u1', ...metadata }, target: { name: node } } });

const placed = (name: object, nodeName = 'n1', more: object = {}): object =>
  binding('', {
    kind: podKind,
    name: '',
    object: { metadata: name, spec: { nodeName, containers: [] } },
    ...more,
  });

/** Names that would change the path or the query of a request, or that Kubernetes does not allow. */
const traversals = [
  '.',
  '..',
  '../../..',
  'a/b',
  '%2e%2e',
  'a?watch=1',
  'a,spec.nodeName!=b',
  'a b',
  'A',
  'x'.repeat(254),
];

suite('names in a request of /gate', () => {
  for (const name of traversals) {
    test(`"${name.slice(0, 20)}" is rejected in every field, without a request to the API server`, async () => {
      const profiles = [{ name: 'mesh', daemonSets: [{ namespace: 'net', name: 'agent' }] }];
      const bodies = [
        binding('n1', { namespace: name }),
        bindingOf({ name }),
        bindingOf({}, name),
        placed({ name }),
        placed({ name: 'web-0' }, name),
        placed({ name: 'web-0' }, 'n1', { namespace: name }),
        placed({ name: 'web-0' }, 'n1', { name }),
      ];
      const view = gateView({ pods: { pod: () => assert.fail('asked') } });
      for (const body of bodies) {
        await assert.rejects(
          async () => gate(decodePlacement(body), view, policyOf({ profiles }), now),
          wrong,
          JSON.stringify(body).slice(0, 300),
        );
      }
    });
  }

  test('a malformed UID of the request or the pod, or no namespace, is rejected', () => {
    assert.throws(() => decodePlacement(binding('n1', { namespace: '' })), wrong);
    for (const uid of ['../x', 'a b', 'x'.repeat(254)]) {
      assert.throws(() => decodePlacement(bindingOf({ uid })), wrong);
      assert.throws(() => decodePlacement(binding('n1', { uid })), wrong);
    }
  });

  test('the message names the field, the expected and the actual value, and is short', () => {
    const message =
      'request.object.target.name should be the name of a node (an RFC 1123 subdomain), is ".."';
    assert.throws(() => decodePlacement(bindingOf({}, '..')), { ...wrong, message });
    const long = bindingOf({}, '\u202e'.repeat(1_000_000));
    assert.throws(
      () => decodePlacement(long),
      (error: Error) => error.message.length < 200 && !/\u202e/.test(error.message),
    );
  });

  test('names of static pods, of nodes with dots, and of pods without a name yet are accepted', () => {
    const mirror = { 'kubernetes.io/config.mirror': 'x' };
    const node = 'ip-10-0-0-1.ec2.internal';
    assert.equal(
      decodePlacement(placed({ name: `kube-proxy-${node}`, annotations: mirror }, node)).node,
      node,
    );
    assert.equal(decodePlacement(placed({ generateName: 'web-' })).name, 'web-*');
    assert.equal(decodePlacement(placed({ name: 'web-0' }, '')).node, '');
    assert.equal(decodePlacement(bindingOf({ uid: undefined })).podUid, '');
  });
});

suite('names in a request of /mutate', () => {
  const review = (request: object): object => {
    const body = reviewOf({ metadata: {}, spec: { containers: [] } }) as { request: object };
    return { ...body, request: { ...body.request, ...request } };
  };

  test('a malformed namespace of the request or the pod is rejected', () => {
    for (const namespace of traversals) {
      assert.throws(() => decodePodRequest(review({ namespace })), wrong);
      const object = { metadata: { namespace }, spec: { containers: [] } };
      assert.throws(() => decodePodRequest(review({ namespace: '', object })), wrong);
    }
  });

  test('a pod without a name, or with one that the API server rejects later, is accepted', () => {
    assert.equal(decodePodRequest(review({ name: '' })).name, '*');
    const generated = { metadata: { generateName: 'web-' }, spec: { containers: [] } };
    assert.equal(decodePodRequest(review({ name: '', object: generated })).name, 'web-*');
    assert.equal(decodePodRequest(review({ name: 'Not_A_Name' })).name, 'Not_A_Name');
    assert.ok(decodePodRequest(review({ name: 'x'.repeat(1_000_000) })).name.length <= 512);
  });

  test("the length of the request's texts is limited in the log", () => {
    for (const field of ['operation', 'subResource'])
      assert.throws(() => decodePodRequest(review({ [field]: 'x'.repeat(254) })), {
        code: 'CNI_GATE_REVIEW_INVALID',
      });
  });

  test('the message about a malformed pod or kind is short, whatever it contains', () => {
    const labels = { ['k'.repeat(1_000_000)]: 7 };
    const kind = { group: 'g'.repeat(1_000_000), version: 'v1', kind: 'Pod' };
    for (const request of [{ object: { metadata: { labels }, spec: { containers: [] } } }, { kind }]) {
      assert.throws(
        () => decodePodRequest(review(request)),
        (error: Error) => error.message.length <= 700,
      );
    }
  });
});
