import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { suite, test } from 'node:test';
import type { Pod } from '../../../webhook/admission/pod.ts';
import type { Operation } from '../../../webhook/admission/review.ts';
import { patched } from '../../support/answers.ts';
import { podFaults } from '../../support/kubernetes-types.ts';
import { recorded } from '../../support/reviews.ts';

const sound = (): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', labels: { app: 'a' }, creationTimestamp: null },
  spec: {
    volumes: [{ name: 'data', emptyDir: {} }],
    initContainers: [{ name: 'first', image: 'i' }],
    containers: [
      {
        name: 'app',
        image: 'i',
        env: [{ name: 'IP', valueFrom: { fieldRef: { fieldPath: 'status.podIPs' } } }],
        ports: [{ containerPort: 80 }],
        livenessProbe: { httpGet: { port: 'http' } },
        resources: { limits: { cpu: 1, memory: '1Gi' }, requests: { cpu: '500m' } },
        volumeMounts: [{ name: 'data', mountPath: '/data' }],
      },
    ],
  },
});

const app = '/spec/containers/0';
const add = (path: string, value: unknown): Operation => ({ op: 'add', path, value });

/** The faults of the sound pod after one change. */
const after = (path: string, value: unknown): string[] => podFaults(patched(sound(), [add(path, value)]));

suite('podFaults', () => {
  test('a sound pod has none, and neither has any pod that an API server sent', () => {
    assert.deepEqual(podFaults(sound()), []);
    const files = readdirSync(new URL('../../reviews/', import.meta.url));
    const names = files.filter((name) => name.startsWith('pod-')).map((name) => name.replace('.json', ''));
    assert.equal(names.length, 10);
    for (const name of names) assert.deepEqual(podFaults(recorded(name).request.object), [], name);
  });

  const types: [string, unknown, string][] = [
    [`${app}/imagePulPolicy`, 'Always', 'pod.spec.containers[app].imagePulPolicy: no such field'],
    [
      `${app}/ports/0/containerPort`,
      '80',
      'pod.spec.containers[app].ports[0].containerPort: should be integer',
    ],
    [
      `${app}/livenessProbe/httpGet/port`,
      1.5,
      'pod.spec.containers[app].livenessProbe.httpGet.port: should be IntOrString',
    ],
    ['/spec/initContainers', { first: {} }, 'pod.spec.initContainers: should be a list'],
    ['/spec/initContainers/0', 'first', 'pod.spec.initContainers[0]: should be an object'],
    ['/spec/hostNetwork', 'true', 'pod.spec.hostNetwork: should be boolean'],
    ['/metadata/labels/tier', 1, 'pod.metadata.labels: should be { [key: string]: string; }'],
    ['/metadata/creationTimestamp', 'yesterday', 'pod.metadata.creationTimestamp: should be Date'],
  ];
  for (const [path, value, fault] of types) {
    test(`types: ${fault}`, () => assert.deepEqual(after(path, value), [fault]));
  }

  const long = 'x'.repeat(64);
  const rules: [string, unknown, string][] = [
    ['/spec/containers', null, 'pod: no metadata or no containers'],
    [
      '/spec/ephemeralContainers',
      [{ name: 'app', image: 'i' }],
      'ephemeralContainers[app]: a second container of that name',
    ],
    [`${app}/image`, '', 'containers[app].image: ""'],
    ['/spec/initContainers/0/name', long, `initContainers[${long}].name: is no DNS label`],
    [`${app}/imagePullPolicy`, 'Sometimes', 'containers[app].imagePullPolicy: "Sometimes"'],
    [
      '/spec/initContainers/0/readinessProbe',
      {},
      'initContainers[first].readinessProbe: not on an init container',
    ],
    [`${app}/env/0/name`, 'A=B', 'containers[app].env[A=B]: is no name of a variable'],
    [`${app}/env/0/value`, 'x', 'containers[app].env[IP]: a value and a source'],
    [
      `${app}/env/0/valueFrom/fieldRef/fieldPath`,
      'metadata.annotations',
      'containers[app].env[IP]: a variable cannot show metadata.annotations',
    ],
    [
      '/spec/volumes/-',
      { name: 'info', downwardAPI: { items: [{ path: 'ips', fieldRef: { fieldPath: 'status.podIPs' } }] } },
      'volumes[info]: a volume cannot show status.podIPs',
    ],
    ['/spec/volumes', null, 'containers[app].volumeMounts[data]: no such volume'],
    [
      `${app}/volumeMounts/-`,
      { name: 'data', mountPath: '/data' },
      'containers[app].volumeMounts[data]: /data is taken',
    ],
    ['/spec/volumes/-', { name: 'data', emptyDir: {} }, 'volumes[data]: a second volume of that name'],
    ['/spec/volumes/0/configMap', { name: 'c' }, 'volumes[data]: more than one source: emptyDir, configMap'],
    [
      `${app}/resources/requests/cpu`,
      '1001m',
      'containers[app].resources.requests.cpu: 1001m is more than the limit 1',
    ],
    [
      `${app}/resources/limits/memory`,
      '1 GB',
      'containers[app].resources.limits.memory: "1 GB" is no quantity',
    ],
    ['/metadata/name', 'A_1', 'metadata.name: "A_1" is no name'],
    ['/metadata/labels/app', long, `metadata.labels["app"]: "${long}" is no label value`],
    ['/metadata/annotations', { 'a/b~c': '' }, 'metadata.annotations: "a/b~c" is no key'],
    ['/metadata/annotations', { a: 'x'.repeat(262_144) }, 'metadata.annotations: more than 256 KiB'],
    [
      `${app}/securityContext`,
      { runAsNonRoot: true, runAsUser: 0 },
      'containers[app].securityContext: runAsNonRoot, and user 0',
    ],
    ['/spec/securityContext', { runAsUser: 2 ** 31 }, 'spec.securityContext.runAsUser: 2147483648 is no id'],
    [
      `${app}/securityContext`,
      { privileged: true, allowPrivilegeEscalation: false },
      'containers[app].securityContext: privileged, but may not escalate privileges',
    ],
  ];
  for (const [path, value, fault] of rules) {
    test(`rules: ${fault.slice(0, 80)}`, () => assert.deepEqual(after(path, value), [fault]));
  }
});
