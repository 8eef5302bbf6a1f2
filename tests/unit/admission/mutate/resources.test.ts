import assert from 'node:assert/strict';
import { test } from 'node:test';
import { minRequestsOfOthers, resourcesFor } from '../../../../webhook/admission/mutate/resources.ts';
import type { Resources } from '../../../../webhook/admission/pod.ts';
import { validatorContainer } from '../../../../webhook/lib/names.ts';

const none = undefined;
const tiny = { requests: { cpu: '1m', memory: '1Mi' }, limits: { cpu: '60m', memory: '31Mi' } };
const zero = { requests: { cpu: '0', memory: 0 } };

// the golden cases `qos-*` show each class; these are the edges of the rules
const cases: [what: string, containers: (Resources | null)[], expected: Resources | undefined][] = [
  ['null and empty values count as absent', [null, {}, { requests: null, limits: {} }], none],
  [
    'the largest value, as its container has it',
    [
      { requests: { cpu: '1500m', memory: '1Gi' } },
      { requests: { cpu: '1.4', memory: 1.1e9 }, limits: { cpu: 2 } },
    ],
    { requests: { cpu: '1500m', memory: 1.1e9 } },
  ],
  [
    'an absent request equals the limit',
    [{ limits: { cpu: '1' } }, { requests: { cpu: '2' } }],
    { requests: { cpu: '2' } },
  ],
  [
    "small values are raised to the validator's minimum",
    [tiny],
    { requests: { cpu: '50m', memory: '32Mi' }, limits: { cpu: '60m', memory: '32Mi' } },
  ],
  ['zero stays zero', [zero], zero],
  [
    'of others, ephemeral storage only',
    [{ limits: { 'ephemeral-storage': '1Gi', 'nvidia.com/gpu': '1', 'hugepages-2Mi': '4Mi' } }],
    { requests: { 'ephemeral-storage': '1Gi' }, limits: { 'ephemeral-storage': '1Gi' } },
  ],
];
for (const [what, containers, expected] of cases) {
  test(`resources of the container: ${what}`, () => {
    const given = containers.map((resources, index) => ({ name: `c${index}`, resources }));
    assert.deepEqual(resourcesFor({ metadata: {}, spec: { containers: given } }), expected);
  });
}

test("a network's own validator has a larger minimum, and our own container does not count", () => {
  const ours = { name: validatorContainer, resources: { requests: { memory: '9Gi' } } };
  const spec = { initContainers: [ours], containers: [{ name: 'app', resources: tiny }] };
  assert.equal(resourcesFor({ metadata: {}, spec }, minRequestsOfOthers)?.requests?.memory, '64Mi');
});
