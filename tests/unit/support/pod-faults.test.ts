import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { suite, test } from 'node:test';
import type { Pod } from '../../../webhook/admission/pod.ts';
import { patched } from '../../support/answers.ts';
import { podFaults } from '../../support/pod-faults.ts';
import { recorded } from '../../support/reviews.ts';

const sound = (): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', labels: { app: 'a' } },
  spec: {
    volumes: [{ name: 'data', emptyDir: {} }],
    initContainers: [{ name: 'first', image: 'i' }],
    containers: [
      {
        name: 'app',
        image: 'i',
        ports: [{ containerPort: 80 }],
        resources: { limits: { cpu: 1, memory: '1Gi' }, requests: { cpu: '500m' } },
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
      },
    ],
  },
});

const app = '/spec/containers/0';

// a judge that finds nothing would make every property of a patch hold
suite('podFaults', () => {
  test('a sound pod has none, and neither has any pod that an API server sent', () => {
    assert.deepEqual(podFaults(sound()), []);
    const files = readdirSync(new URL('../../reviews/', import.meta.url));
    const names = files.filter((name) => name.startsWith('pod-')).map((name) => name.replace('.json', ''));
    assert.equal(names.length, 9);
    for (const name of names) assert.deepEqual(podFaults(recorded(name).request.object), [], name);
  });

  const cases: [path: string, value: unknown, fault: string][] = [
    [`${app}/imagePulPolicy`, 'Always', 'pod.spec.containers[app].imagePulPolicy: no such field'],
    [
      `${app}/ports/0/containerPort`,
      '80',
      'pod.spec.containers[app].ports[0].containerPort: should be integer',
    ],
    ['/spec/initContainers', { first: {} }, 'pod.spec.initContainers: should be a list'],
    ['/spec/initContainers/0', 'first', 'pod.spec.initContainers[0]: should be an object'],
    ['/metadata/labels/tier', 1, 'pod.metadata.labels: should be { [key: string]: string; }'],
    [
      `${app}/livenessProbe`,
      { httpGet: { port: 1.5 } },
      'pod.spec.containers[app].livenessProbe.httpGet.port: should be IntOrString',
    ],
    ['/metadata/creationTimestamp', 'yesterday', 'pod.metadata.creationTimestamp: should be Date'],
    ['/spec/containers', null, 'pod: no metadata or no containers'],
    ['/spec/ephemeralContainers', [{ name: 'app' }], 'container app: is there twice'],
    ['/spec/volumes/-', { name: 'data', emptyDir: {} }, 'volume data: is there twice'],
    ['/spec/volumes', null, 'container app: mounts no volume data'],
    [
      `${app}/volumeMounts/-`,
      { name: 'data', mountPath: '/data' },
      'container app: mounts two volumes at /data',
    ],
    [`${app}/resources/requests/cpu`, '1001m', 'app: the request cpu of 1001m is above the limit'],
    [`${app}/resources/limits/memory`, '1 GB', 'app: memory of "1 GB" is no quantity'],
  ];
  for (const [path, value, fault] of cases) {
    test(fault, () => assert.deepEqual(podFaults(patched(sound(), [{ op: 'add', path, value }])), [fault]));
  }
});
