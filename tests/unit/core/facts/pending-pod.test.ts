import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ApiPod } from '../../../../webhook/core/facts/api.ts';
import { toPendingPod } from '../../../../webhook/core/facts/pending-pod.ts';
import { requiring } from '../../../support/affinity.ts';

const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'rs-uid', controller: true };
const group = JSON.stringify(['shop', 'apps/v1', 'ReplicaSet', 'rs-uid']);

function api(spec: ApiPod['spec'] = {}, more: object = {}): ApiPod {
  const metadata = {
    uid: 'u1',
    resourceVersion: '7',
    creationTimestamp: '2026-11-21T12:00:00Z',
    namespace: 'shop',
    name: 'web-0',
    ownerReferences: [{ ...owner, uid: 'other', controller: false }, owner],
    annotations: { 'cni-gate.io/status': '{"profiles":["mesh"]}' },
  };
  return { metadata: { ...metadata, ...more }, spec, status: { nominatedNodeName: 'n2' } };
}

suite('what is read of a waiting pod', () => {
  test('its version, nomination, owner, and its requirements for a node', () => {
    const affinity = requiring({ matchExpressions: [{ key: 'gpu', operator: 'Exists' }] });
    const pod = toPendingPod(
      api({
        containers: [{ name: 'web', resources: { requests: { cpu: '100m' } } }],
        nodeSelector: { pool: 'a' },
        affinity,
        tolerations: [{ operator: 'Exists' }],
        volumes: [{ name: 'data', persistentVolumeClaim: {} }],
      }),
    );
    assert.deepEqual([pod.version, pod.nominated, pod.group, pod.leaving], ['7', 'n2', group, false]);
    assert.deepEqual(pod.constraints, { nodeSelector: { pool: 'a' }, affinity });
    assert.deepEqual(pod.requests, { cpu: 100, pods: 1 });
    assert.deepEqual(pod.tolerations, [{ operator: 'Exists' }]);
    assert.equal(pod.hasVolumes, true);
  });

  const expressions = (count: number): object => ({
    affinity: requiring({
      matchExpressions: Array.from({ length: count }, (_, nth) => ({ key: `k${nth}`, operator: 'Exists' })),
    }),
  });
  const tooMany: [what: string, spec: object][] = [
    ['expressions', expressions(280)],
    ['characters', { tolerations: [{ key: 'x'.repeat(20_000), operator: 'Exists' }] }],
  ];
  for (const [what, spec] of tooMany) {
    test(`too many ${what}: it is left to the scheduler`, () => {
      const pod = toPendingPod(api(spec));
      assert.deepEqual([pod.tooLarge, pod.constraints], [true, {}]);
    });
  }

  test('many terms, as people write them: it is steered, and a list of 300 nodes is one term', () => {
    const names = Array.from({ length: 300 }, (_, nth) => `worker-${nth}.example.internal`);
    const listed = { key: 'kubernetes.io/hostname', operator: 'In', values: names };
    const affinity = requiring({ matchExpressions: [listed] });
    const tolerations = Array.from({ length: 30 }, (_, nth) => ({ key: `t${nth}`, operator: 'Exists' }));
    for (const spec of [{ affinity, tolerations }, expressions(60)]) {
      assert.equal(toPendingPod(api(spec)).tooLarge, false);
    }
  });

  test('pods of one owner with the same profiles and requirements have the same key', () => {
    const key = (spec: object, more: object = {}): string => toPendingPod(api(spec, more)).key;
    const selector = { nodeSelector: { a: 'b' } };
    assert.equal(key(selector), key(selector, { name: 'web-1', uid: 'u2' }));
    assert.match(key(selector), /^shop\/[\w-]{43}$/);
    const other = { ownerReferences: [{ ...owner, uid: 'other' }] };
    for (const [spec, more] of [
      [{ nodeSelector: { a: 'c' } }, {}],
      [{ ...selector, containers: [{ name: 'web', resources: { requests: { cpu: '1' } } }] }, {}],
      [selector, { annotations: {} }],
      [selector, { namespace: 'other' }],
      [selector, other],
    ] as const) {
      assert.notEqual(key(selector), key(spec, more), JSON.stringify([spec, more]));
    }
  });

  test('without a controller, it is its own group; while it is being deleted, it is leaving', () => {
    const pod = toPendingPod(api({}, { ownerReferences: null, deletionTimestamp: '2026-11-21T12:00:00Z' }));
    assert.deepEqual([pod.group, pod.leaving], ['u1', true]);
  });

  const required = { requiredDuringSchedulingIgnoredDuringExecution: [{}] };
  const spread = (mode: object) => ({ topologySpreadConstraints: [mode] });
  const hard: [what: string, spec: ApiPod['spec'], unverifiable: boolean][] = [
    ['no constraint', {}, false],
    ['a soft topology spread', spread({ whenUnsatisfiable: 'ScheduleAnyway' }), false],
    ['a topology spread without a mode', spread({}), true],
    ['a hard topology spread', spread({ whenUnsatisfiable: 'DoNotSchedule' }), true],
    ['required anti-affinity', { affinity: { podAntiAffinity: required } }, true],
    ['required affinity to pods', { affinity: { podAffinity: required } }, true],
    ['a host port', { containers: [{ name: 'web', ports: [{ hostPort: 80 }] }] }, true],
    ['resource claims', { resourceClaims: [{}] }, true],
    ['a volume claim', { volumes: [{ name: 'data', persistentVolumeClaim: {} }] }, true],
    ['a generic ephemeral volume', { volumes: [{ name: 'scratch', ephemeral: {} }] }, true],
    ['a volume without a claim', { volumes: [{ name: 'tmp' }] }, false],
  ];
  for (const [what, spec, unverifiable] of hard) {
    test(`${what}: ${unverifiable ? 'only the scheduler can judge it' : 'verifiable'}`, () =>
      assert.equal(toPendingPod(api(spec)).unverifiable, unverifiable));
  }
});
