import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { subtract } from '../../../webhook/scheduling/amounts.ts';
import { NodeUsageCounter, takenWith } from '../../../webhook/steer/node-usage.ts';
import { type ApiPendingPod, toPendingPod, weightOf } from '../../../webhook/steer/pending-pod.ts';
import { now } from './support.ts';

const owner = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'rs-uid', controller: true };
const group = JSON.stringify(['shop', 'apps/v1', 'ReplicaSet', 'rs-uid']);

function api(spec: ApiPendingPod['spec'] = {}, more: object = {}): ApiPendingPod {
  const metadata = {
    uid: 'u1',
    resourceVersion: '7',
    namespace: 'shop',
    name: 'web-0',
    ownerReferences: [{ ...owner, uid: 'other', controller: false }, owner],
    annotations: { 'cni-gate.io/status': '{"profiles":["mesh"]}' },
  };
  return { metadata: { ...metadata, ...more }, spec, status: { nominatedNodeName: 'n2' } };
}

suite('what is read of a waiting pod', () => {
  test('its version, nomination, owner, and what it asks of a node', () => {
    const required = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'gpu', operator: 'Exists' }] }] };
    const pod = toPendingPod(
      api({
        containers: [{ resources: { requests: { cpu: '100m' } } }],
        nodeSelector: { pool: 'a' },
        affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
        tolerations: [{ operator: 'Exists' }],
      }),
    );
    assert.deepEqual([pod.version, pod.nominated, pod.group, pod.leaving], ['7', 'n2', group, false]);
    assert.deepEqual(pod.constraints, {
      nodeSelector: { pool: 'a' },
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
    });
    assert.deepEqual(pod.requests, { cpu: 100, pods: 1 });
    assert.deepEqual(pod.tolerations, [{ operator: 'Exists' }]);
    assert.equal(pod.hasVolumes, false);
  });

  test('requirements with too many characters: it is left to the scheduler, and they are not kept', () => {
    const tolerations = [{ key: 'x'.repeat(20_000), operator: 'Exists' }];
    const pod = toPendingPod(api({ tolerations }));
    assert.equal(pod.tooLarge, true);
    assert.ok(JSON.stringify(pod).length < 1000);
    assert.equal(toPendingPod(api({ tolerations: [{ key: 'x', operator: 'Exists' }] })).tooLarge, false);
  });

  const expressions = (count: number): object => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            {
              matchExpressions: Array.from({ length: count }, (_, nth) => ({
                key: `k${nth}`,
                operator: 'Exists',
              })),
            },
          ],
        },
      },
    },
  });
  const tooMany: [what: string, spec: object][] = [
    ['expressions', expressions(280)],
    [
      'node selector entries',
      { nodeSelector: Object.fromEntries(Array.from({ length: 101 }, (_, n) => [`k${n}`, 'v'])) },
    ],
    ['tolerations', { tolerations: Array.from({ length: 101 }, () => ({ operator: 'Exists' })) }],
    [
      'terms without expressions',
      {
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: Array.from({ length: 101 }, () => ({})),
            },
          },
        },
      },
    ],
  ];
  for (const [what, spec] of tooMany) {
    test(`too many ${what}: it is left to the scheduler`, () => {
      const pod = toPendingPod(api(spec));
      assert.deepEqual([pod.tooLarge, pod.kind], [true, '']);
    });
  }

  test('many terms, as people write them: it is steered, and a list of 300 nodes is one term', () => {
    const names = Array.from({ length: 300 }, (_, nth) => `worker-${nth}.example.internal`);
    const listed = { key: 'kubernetes.io/hostname', operator: 'In', values: names };
    const affinity = {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchExpressions: [listed] }],
        },
      },
    };
    const tolerations = Array.from({ length: 30 }, (_, nth) => ({ key: `t${nth}`, operator: 'Exists' }));
    for (const spec of [{ affinity, tolerations }, expressions(60)]) {
      assert.equal(toPendingPod(api(spec)).tooLarge, false);
    }
  });

  test('an invalid name of its owner, a nomination or a refusal is not kept', () => {
    const long = 'x'.repeat(254);
    const text = `admission webhook "bindings.cni-gate.io" denied the request: node ${long} is not ready (CNI_GATE_NODE_NOT_READY)`;
    const conditions = [{ type: 'PodScheduled', status: 'False', message: text }];
    const one = api({}, { ownerReferences: [{ uid: long, controller: true }] });
    const pod = toPendingPod({ ...one, status: { conditions, nominatedNodeName: long } });
    assert.deepEqual([pod.group, pod.nominated, pod.refused], ['u1', '', undefined]);
    const short = text.replace(long, long.slice(1));
    const refused = { conditions: [{ type: 'PodScheduled', status: 'False', message: short }] };
    assert.equal(toPendingPod({ ...one, status: refused }).refused, long.slice(1));
  });

  test('its weight grows with its requirements', () => {
    const weight = (spec: object): number => weightOf(toPendingPod(api(spec)));
    const none = weight({});
    const tolerations = Array(90).fill({ operator: 'Exists' });
    assert.ok(weight({ tolerations }) > none + 90 * 100, 'an object takes more than its text');
    assert.ok(weight({ nodeSelector: { a: 'x'.repeat(1000) } }) > none + 2000);
    assert.ok(none < 4096);
  });

  test('pods with the same requirements have the same kind', () => {
    const kind = (spec: object, more: object = {}): string => toPendingPod(api(spec, more)).kind;
    assert.equal(
      kind({ nodeSelector: { a: 'b' } }),
      kind({ nodeSelector: { a: 'b' } }, { name: 'web-1', uid: 'u2' }),
    );
    assert.notEqual(kind({ nodeSelector: { a: 'b' } }), kind({ nodeSelector: { a: 'c' } }));
    assert.notEqual(kind({}), kind({}, { annotations: {} }));
  });

  test('without a controller it is a group of its own; while it is deleted it is leaving', () => {
    const pod = toPendingPod(api({}, { ownerReferences: null, deletionTimestamp: '2026-11-21T12:00:00Z' }));
    assert.deepEqual([pod.group, pod.leaving], ['u1', true]);
  });

  const hard: [what: string, spec: ApiPendingPod['spec'], unverifiable: boolean][] = [
    ['no constraint', {}, false],
    [
      'a soft topology spread',
      { topologySpreadConstraints: [{ whenUnsatisfiable: 'ScheduleAnyway' }] },
      false,
    ],
    ['a topology spread without a mode', { topologySpreadConstraints: [{}] }, true],
    ['a hard topology spread', { topologySpreadConstraints: [{ whenUnsatisfiable: 'DoNotSchedule' }] }, true],
    [
      'required anti-affinity',
      { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{}] } } },
      true,
    ],
    [
      'required affinity to pods',
      { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{}] } } },
      true,
    ],
    [
      'an empty list of required affinity',
      { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [] } } },
      false,
    ],
    ['a host port', { containers: [{ ports: [{ hostPort: 80 }] }] }, true],
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

suite('what is taken of a node', () => {
  const placed = (uid: string, cpu: string) => ({
    metadata: {
      ...{ uid, resourceVersion: '1', name: uid, namespace: 'shop', ownerReferences: [owner] },
    },
    spec: { containers: [{ resources: { requests: { cpu } } }] },
  });
  const counter = new NodeUsageCounter();
  for (const pod of [placed('a', '100m'), placed('b', '200m')]) counter.add(pod);
  const usage = counter.usage(now);
  const expected = { node: 'n2', group, requests: { cpu: 50, pods: 1 } };

  test("is the sum of its pods' requests", () => {
    assert.deepEqual(subtract({ cpu: 1000, pods: 3 }, usage.amounts), { cpu: 700, pods: 1 });
    assert.equal(usage.groups.get(group), 2);
    assert.deepEqual([...usage.pods], ['a', 'b']);
  });

  test('includes expected pods, each once', () => {
    const taken = takenWith(usage, [
      { ...expected, uid: 'b', leftAt: undefined },
      { ...expected, uid: 'c', leftAt: undefined },
      // the list may be a second old
      { ...expected, uid: 'd', leftAt: now - 1000 },
      // it was deleted, or else the list would have it
      { ...expected, uid: 'e', leftAt: now - 1001 },
    ]);
    assert.deepEqual([taken.amounts, taken.groups.get(group)], [{ cpu: 400, pods: 4 }, 4]);
  });
});
