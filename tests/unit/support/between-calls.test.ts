import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Pod } from '../../../webhook/admission/pod.ts';
import { copyOf } from '../../support/answers.ts';
import { asTheApiServerLeavesIt, changes } from '../../support/between-calls.ts';
import { podFaults } from '../../support/pod-faults.ts';
import { recorded } from '../../support/reviews.ts';

const written = (): Pod => ({
  metadata: { name: 'a', labels: null, annotations: {} },
  spec: {
    initContainers: [],
    volumes: [{ name: 'tmp' }, { name: 'conf', configMap: { name: 'conf' } }],
    containers: [
      {
        name: 'app',
        image: 'registry.example:5000/app',
        ports: [{ containerPort: 80 }],
        env: [{ name: 'NODE', valueFrom: { fieldRef: { fieldPath: 'spec.nodeName' } } }],
        livenessProbe: { httpGet: { port: 80 } },
        resources: { limits: { cpu: '1000m' } },
      },
    ],
  },
});

suite('what happens between two calls', () => {
  test('what an API server sent is left as it is', () => {
    for (const name of ['pod-deployment-web', 'pod-job-report', 'pod-meshed', 'pod-statefulset-db']) {
      const { object } = recorded(name).request;
      const pod = copyOf(object);
      asTheApiServerLeavesIt(pod);
      assert.deepEqual(pod, object, name);
    }
  });

  test('a pod as a person writes it gets what the API server fills in', () => {
    const pod = written();
    asTheApiServerLeavesIt(pod);
    assert.deepEqual(Object.keys(pod.metadata), ['name']);
    assert.equal(pod.spec.initContainers, undefined);
    assert.deepEqual(pod.spec.volumes?.slice(0, 2), [
      { name: 'tmp', emptyDir: {} },
      { name: 'conf', configMap: { name: 'conf', defaultMode: 420 } },
    ]);
    const [container] = pod.spec.containers;
    assert.equal(container?.imagePullPolicy, 'Always');
    assert.equal(container?.terminationMessagePolicy, 'File');
    assert.deepEqual(container?.ports, [{ containerPort: 80, protocol: 'TCP' }]);
    assert.deepEqual(container?.resources, { limits: { cpu: '1' }, requests: { cpu: '1' } });
    assert.deepEqual(container?.env?.[0]?.valueFrom, {
      fieldRef: { apiVersion: 'v1', fieldPath: 'spec.nodeName' },
    });
    assert.equal(container?.volumeMounts?.[0]?.mountPath, '/var/run/secrets/kubernetes.io/serviceaccount');
    assert.deepEqual(podFaults(pod), []);
  });

  for (const [name, change] of Object.entries(changes)) {
    test(`${name} leaves a pod that Kubernetes takes, and does nothing the second time`, () => {
      const pod = written();
      change(pod);
      assert.deepEqual(podFaults(pod), []);
      const again = copyOf(pod);
      change(again);
      assert.deepEqual(again, copyOf(pod));
    });
  }
});
