import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  amountsOf,
  fits,
  podRequests,
  type RequestingSpec,
} from '../../../../webhook/core/scheduling/requests.ts';

const asks = (cpu: string, memory?: string) => ({
  name: 'c',
  resources: { requests: { cpu, ...(memory !== undefined && { memory }) } },
});
const sidecar = (cpu: string) => ({ ...asks(cpu), restartPolicy: 'Always' });

suite('what a pod requests from its node', () => {
  const cases: [what: string, spec: RequestingSpec, cpu: number][] = [
    ['nothing', { containers: [{ name: 'c' }] }, 0],
    ['containers are added up', { containers: [asks('100m'), asks('0.2')] }, 300],
    [
      'the largest init container counts if it is larger',
      { containers: [asks('100m')], initContainers: [asks('300m'), asks('200m')] },
      300,
    ],
    ['and does not if it is smaller', { containers: [asks('400m')], initContainers: [asks('300m')] }, 400],
    ['sidecars run beside containers', { containers: [asks('100m')], initContainers: [sidecar('50m')] }, 150],
    [
      'and beside the init containers after them',
      { containers: [asks('100m')], initContainers: [sidecar('50m'), asks('300m')] },
      350,
    ],
    [
      'but not beside those before them',
      { containers: [asks('100m')], initContainers: [asks('300m'), sidecar('50m')] },
      300,
    ],
    ['overhead is added', { containers: [asks('100m')], overhead: { cpu: '250m' } }, 350],
    [
      'pod-level requests replace those of the containers',
      { containers: [asks('100m')], resources: { requests: { cpu: '1' } } },
      1000,
    ],
  ];
  for (const [what, spec, cpu] of cases) {
    test(what, () => assert.equal(podRequests(spec).cpu ?? 0, cpu));
  }

  test('resources without a pod-level request are those of the containers', () => {
    const spec = { containers: [asks('100m', '1Mi')], resources: { requests: { cpu: '1' } } };
    assert.deepEqual(podRequests(spec), { cpu: 1000, memory: 2 ** 20, pods: 1 });
  });
});

suite('amounts', () => {
  test('are whole numbers, rounded up as by the scheduler', () => {
    assert.deepEqual(amountsOf({ cpu: '69m', memory: '1.5', 'example.com/card': 2 }), {
      cpu: 69,
      memory: 2,
      'example.com/card': 2,
    });
    assert.deepEqual(amountsOf({ cpu: '0.0001' }), { cpu: 1 });
    for (let milli = 0; milli <= 10_000; milli += 1) {
      assert.equal(amountsOf({ cpu: `${milli}m` }).cpu, milli);
      assert.equal(amountsOf({ cpu: (milli / 1000).toString() }).cpu, milli);
    }
  });

  test('a resource that is not requested may be exhausted', () => {
    assert.equal(fits({ cpu: 100 }, { cpu: 100, memory: -5 }), true);
    assert.equal(fits({ cpu: 101 }, { cpu: 100 }), false);
    assert.equal(fits({ 'example.com/card': 1 }, { cpu: 100 }), false);
    assert.equal(fits({ 'example.com/card': 0 }, {}), true);
  });
});
