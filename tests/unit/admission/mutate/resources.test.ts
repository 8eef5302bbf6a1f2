import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { leastOfOthers, resourcesFor } from '../../../../webhook/admission/mutate/resources.ts';
import type { Container, Pod, Resources } from '../../../../webhook/admission/pod.ts';
import { validatorContainer } from '../../../../webhook/lib/names.ts';

const pod = (containers: (Resources | null | undefined)[], spec: Partial<Pod['spec']> = {}): Pod => ({
  metadata: {},
  spec: {
    containers: containers.map(
      (resources, index): Container => ({
        name: `c${index}`,
        ...(resources !== undefined && { resources }),
      }),
    ),
    ...spec,
  },
});

suite('resourcesFor', () => {
  test('no value if not all containers set one', () => {
    assert.equal(resourcesFor(pod([undefined, null, {}, { requests: null, limits: {} }])), undefined);
    assert.equal(resourcesFor(pod([{ requests: { cpu: '1' } }, {}])), undefined);
  });

  test('the largest value of all containers, as written in its container', () => {
    const others = [
      { requests: { cpu: '1500m', memory: '1Gi' } },
      { requests: { cpu: '1.4', memory: 1.1e9 }, limits: { cpu: 2 } },
    ];
    assert.deepEqual(resourcesFor(pod(others)), { requests: { cpu: '1500m', memory: 1.1e9 } });
  });

  test('an absent request equals the limit, as in the API server', () => {
    assert.deepEqual(resourcesFor(pod([{ limits: { cpu: '1' } }, { requests: { cpu: '2' } }])), {
      requests: { cpu: '2' },
    });
  });

  test('init containers count, our own does not', () => {
    const resources = { requests: { memory: '128Mi' } };
    const ours = { name: validatorContainer, resources: { requests: { memory: '9Gi' } } };
    assert.deepEqual(resourcesFor(pod([resources], { initContainers: [ours] })), resources);
    assert.equal(resourcesFor(pod([resources], { initContainers: [{ name: 'i' }] })), undefined);
  });

  test("small values are raised to the validator's minimum, and zero stays zero", () => {
    const tiny = { requests: { cpu: '1m', memory: '1Mi' }, limits: { cpu: '60m', memory: '31Mi' } };
    assert.deepEqual(resourcesFor(pod([tiny])), {
      requests: { cpu: '50m', memory: '32Mi' },
      limits: { cpu: '60m', memory: '32Mi' },
    });
    assert.deepEqual(resourcesFor(pod([tiny]), leastOfOthers), {
      requests: { cpu: '50m', memory: '64Mi' },
      limits: { cpu: '60m', memory: '64Mi' },
    });
    const zero = { requests: { cpu: '0', memory: 0 } };
    assert.deepEqual(resourcesFor(pod([zero])), zero);
  });

  test('ephemeral storage is set, other resources are not', () => {
    const resources = {
      limits: { 'ephemeral-storage': '1Gi', 'nvidia.com/gpu': '1', 'hugepages-2Mi': '4Mi' },
    };
    assert.deepEqual(resourcesFor(pod([resources])), {
      requests: { 'ephemeral-storage': '1Gi' },
      limits: { 'ephemeral-storage': '1Gi' },
    });
  });

  test('pod-level resources: no resources for the container', () => {
    const resources = { requests: { cpu: '1' } };
    assert.equal(resourcesFor(pod([resources], { resources: { limits: { cpu: '2' } } })), undefined);
    assert.deepEqual(resourcesFor(pod([resources], { resources: {} })), resources);
  });
});
