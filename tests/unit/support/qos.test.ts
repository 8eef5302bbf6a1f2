import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Pod, Resources } from '../../../webhook/admission/pod.ts';
import { qosClass } from '../../support/qos.ts';

const pod = (containers: Resources[], initContainers: Resources[] = [], own?: Resources): Pod => ({
  metadata: {},
  spec: {
    containers: containers.map((resources, index) => ({ name: `c${index}`, resources })),
    initContainers: initContainers.map((resources, index) => ({ name: `i${index}`, resources })),
    ...(own && { resources: own }),
  },
});

const both = (cpu: string, memory: string): Resources => ({
  requests: { cpu, memory },
  limits: { cpu, memory },
});

/** The cases that Kubernetes' own `qos_test.go` tells apart. */
suite('qosClass', () => {
  test('nothing set, or nothing but zeros and other resources, is BestEffort', () => {
    assert.equal(qosClass(pod([{}])), 'BestEffort');
    assert.equal(qosClass(pod([both('0', '0')])), 'BestEffort');
    assert.equal(
      qosClass(pod([{ limits: { 'nvidia.com/gpu': '1', 'ephemeral-storage': '1Gi' } }])),
      'BestEffort',
    );
  });

  test('limits equal to requests everywhere is Guaranteed, in whatever spelling', () => {
    assert.equal(qosClass(pod([both('1', '1Gi')], [both('100m', '1Mi')])), 'Guaranteed');
    const spelled = { requests: { cpu: 1, memory: '1024Mi' }, limits: { cpu: '1000m', memory: '1Gi' } };
    assert.equal(qosClass(pod([spelled])), 'Guaranteed');
  });

  test('an init container without limits, or one resource without, is Burstable', () => {
    assert.equal(qosClass(pod([both('1', '1Gi')], [{}])), 'Burstable');
    assert.equal(qosClass(pod([{ requests: { cpu: '1' }, limits: { cpu: '1' } }])), 'Burstable');
    assert.equal(qosClass(pod([{ limits: { cpu: '1', memory: '1Gi' } }])), 'Burstable');
    assert.equal(qosClass(pod([both('1', '1Gi'), { requests: { cpu: '1n' } }])), 'Burstable');
  });

  test("the pod's own resources count alone", () => {
    assert.equal(qosClass(pod([{ requests: { cpu: '1' } }], [], both('2', '2Gi'))), 'Guaranteed');
    assert.equal(qosClass(pod([both('1', '1Gi')], [], { requests: { cpu: '1' } })), 'Burstable');
    assert.equal(qosClass(pod([both('1', '1Gi')], [], {})), 'BestEffort');
  });
});
