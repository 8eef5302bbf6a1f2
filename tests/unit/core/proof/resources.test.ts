import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { FixedNamespaces } from '../../../../webhook/core/facts/namespace.ts';
import type { Pod, PodSpec, Resources } from '../../../../webhook/core/facts/pod.ts';
import { podRequests } from '../../../../webhook/core/scheduling/requests.ts';
import { answerTo, patched } from '../../../support/answers.ts';
import { policyOf } from '../../../support/configurations.ts';

const profiles = [
  { name: 'seen', proof: { witness: 'kubelet' } },
  { name: 'theirs', proof: { container: { image: 'registry.example/check:1' } } },
];

/** The pod after the proof of a profile was injected. */
function injected(spec: PodSpec, profile = 'cilium', proof = {}): Pod {
  const labels = { 'cni-gate.io/profile': profile };
  const policy = policyOf({ profiles, proof });
  const pod = { metadata: {}, spec };
  const { patch } = answerTo(pod, {
    policy,
    namespaces: new FixedNamespaces(new Map([['shop', labels]])),
  });
  return patched(pod, patch);
}

/** The resources that our init container gets in a pod whose containers have these resources. */
function resources(of: (Resources | null)[], ...settings: [profile?: string, proof?: object]) {
  const containers = of.map((given, index) => ({ name: `c${index}`, resources: given }));
  return injected({ containers }, ...settings).spec.initContainers?.[0]?.resources;
}

const none = undefined;
const small = { cpu: '2m', memory: '4Mi' };
const limits = { cpu: '20m', memory: '24Mi' };
const large = { cpu: '4', memory: '8Gi' };
const guaranteed = { requests: large, limits: large };
const burstable = { requests: { cpu: '100m', memory: '1Gi' }, limits: { cpu: '2', memory: '1Gi' } };
const zero = { requests: { cpu: '0', memory: 0 } };

// the golden cases `qos-*` show each QoS class; these tests cover the edge cases
const cases: [what: string, containers: (Resources | null)[], expected: Resources | undefined][] = [
  ['null and empty values count as absent', [null, {}, { requests: null, limits: {} }], none],
  ['a Burstable pod', [burstable, burstable], { requests: small, limits }],
  ['a Guaranteed pod: limits equal to requests', [guaranteed, guaranteed], { requests: limits, limits }],
  [
    'a container with equal requests and limits beside a Burstable one',
    [guaranteed, burstable],
    { requests: small, limits },
  ],
  ['a value that a container lacks', [burstable, { requests: { cpu: '1' } }], { requests: { cpu: '2m' } }],
  ['an absent request equals the limit', [{ limits: large }], { requests: limits, limits }],
  ['zeros stay zeros', [zero, zero], { requests: { cpu: '0', memory: '0' } }],
  ['a zero beside another value', [zero, { requests: { cpu: '1' } }], { requests: { cpu: '2m' } }],
  [
    'an invalid quantity counts as absent',
    [{ requests: { cpu: '1OOm', memory: '1Gi' } }],
    { requests: { memory: '4Mi' } },
  ],
  [
    'of other resources, ephemeral storage only',
    [{ limits: { 'ephemeral-storage': '1Gi', 'nvidia.com/gpu': '1', 'hugepages-2Mi': '4Mi' } }],
    { requests: { 'ephemeral-storage': '1Mi' }, limits: { 'ephemeral-storage': '1Mi' } },
  ],
];
suite('resources of the init container', () => {
  for (const [what, containers, expected] of cases) {
    test(what, () => assert.deepEqual(resources(containers), expected));
    test(`${what}: the same for a sidecar`, () => assert.deepEqual(resources(containers, 'seen'), expected));
  }

  test('none in a pod with pod-level resources, which determine its QoS class', () => {
    const containers = [{ name: 'app', resources: guaranteed }];
    const { spec } = injected({ containers, resources: guaranteed });
    assert.equal(spec.initContainers?.[0]?.resources, none);
  });

  test("a network's own validator has larger limits", () => {
    const larger = { cpu: '50m', memory: '64Mi' };
    assert.deepEqual(resources([burstable], 'theirs'), { requests: small, limits: larger });
    assert.deepEqual(resources([guaranteed], 'theirs'), { requests: larger, limits: larger });
  });

  test('proof.resources replaces what it names', () => {
    const proof = { resources: { requests: { cpu: '100m' }, limits: { cpu: 0.2, memory: '128Mi' } } };
    const expected = { requests: { cpu: '100m', memory: '4Mi' }, limits: { cpu: 0.2, memory: '128Mi' } };
    assert.deepEqual(resources([burstable], 'cilium', proof), expected);
    assert.deepEqual(resources([burstable], 'theirs', proof), expected);
    assert.deepEqual(resources([guaranteed], 'cilium', proof), {
      requests: expected.limits,
      limits: expected.limits,
    });
  });

  test('a pod requests no more than before, even after its containers were resized to less', () => {
    const spec = { containers: [{ name: 'app', resources: guaranteed }] };
    const after = injected(spec).spec;
    assert.deepEqual(podRequests(after), podRequests(spec));
    const tenth = { requests: { cpu: '400m', memory: '800Mi' }, limits: { cpu: '400m', memory: '800Mi' } };
    const resized = { ...after, containers: [{ name: 'app', resources: tenth }] };
    assert.deepEqual(podRequests(resized), podRequests({ containers: resized.containers }));
  });
});
