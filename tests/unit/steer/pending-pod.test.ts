import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { freeOf, takenWith, usageOf } from '../../../webhook/steer/node-usage.ts';
import { type ApiPendingPod, toPendingPod, weightOf } from '../../../webhook/steer/pending-pod.ts';
import { now } from './support.ts';

const owner = { uid: 'rs-uid', controller: true };

function api(spec: ApiPendingPod['spec'] = {}, more: object = {}): ApiPendingPod {
  const metadata = {
    uid: 'u1',
    resourceVersion: '7',
    namespace: 'shop',
    name: 'web-0',
    ownerReferences: [{ uid: 'other', controller: false }, owner],
    annotations: { 'cni-gate.io/status': '{"profiles":["mesh"]}' },
  };
  return { metadata: { ...metadata, ...more }, spec, status: { nominatedNodeName: 'n2' } };
}

suite('what is read of a pod that waits', () => {
  test('its version, nomination, owner, and what it asks of a node', () => {
    const required = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'gpu', operator: 'Exists' }] }] };
    const pod = toPendingPod(
      api({
        containers: [{ resources: { requests: { cpu: '100m' } } }],
        nodeSelector: { pool: 'a' },
        affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
        tolerations: [{ operator: 'Exists' }],
        volumes: [
          { name: 'data', persistentVolumeClaim: { claimName: 'disk' } },
          { name: 'scratch', ephemeral: {} },
          { name: 'tmp' },
        ],
      }),
    );
    assert.deepEqual([pod.version, pod.nominated, pod.group, pod.leaving], ['7', 'n2', 'rs-uid', false]);
    assert.deepEqual(pod.constraints, {
      nodeSelector: { pool: 'a' },
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } },
    });
    assert.deepEqual(pod.requests, { cpu: 100, pods: 1 });
    assert.deepEqual(pod.claims, ['disk', 'web-0-scratch']);
    assert.deepEqual(pod.tolerations, [{ operator: 'Exists' }]);
    assert.deepEqual(pod.neighbours, { spread: [], apart: [], kind: '' });
  });

  test('what it wants of the pods beside it, in its namespace and by its labels', () => {
    const term = { topologyKey: 'kubernetes.io/hostname', labelSelector: {}, matchLabelKeys: ['app'] };
    const asked = [{ key: 'app', operator: 'In', values: ['web'] }];
    const { kind, ...neighbours } = toPendingPod(
      api(
        {
          topologySpreadConstraints: [{ ...term, whenUnsatisfiable: 'DoNotSchedule', maxSkew: 2 }],
          affinity: {
            podAntiAffinity: {
              requiredDuringSchedulingIgnoredDuringExecution: [{ ...term, namespaces: ['shop'] }],
            },
          },
        },
        { labels: { app: 'web' } },
      ),
    ).neighbours;
    assert.match(kind, /"shop"/);
    assert.deepEqual(neighbours, {
      spread: [{ maxSkew: 2, selects: asked, itself: true }],
      apart: [asked],
    });
  });

  test('one that says more than can be kept is left to the scheduler, and nothing of it is kept', () => {
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
      'expressions about other pods',
      {
        topologySpreadConstraints: [
          {
            topologyKey: 'kubernetes.io/hostname',
            maxSkew: 1,
            labelSelector: {
              matchExpressions: Array.from({ length: 101 }, (_, n) => ({ key: `k${n}`, operator: 'Exists' })),
            },
          },
        ],
      },
    ],
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
    test(`one that asks in too many ${what} is left to the scheduler`, () => {
      const pod = toPendingPod(api(spec));
      assert.deepEqual([pod.tooLarge, pod.kind], [true, '']);
    });
  }

  test('one that asks in many terms, as people write them, is not: a list of 300 nodes is one term', () => {
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

  test('claims count among what it says, by their names and their number', () => {
    const claiming = (...claims: string[]) =>
      toPendingPod(
        api({
          volumes: claims.map((claimName, index) => ({
            name: `v${index}`,
            persistentVolumeClaim: { claimName },
          })),
        }),
      );
    const large = claiming('x'.repeat(200_000));
    assert.deepEqual([large.tooLarge, large.claims], [true, []]);
    assert.ok(weightOf(large) < 4096);
    const many = claiming(...Array.from({ length: 65 }, (_, index) => `c${index}`));
    assert.deepEqual([many.tooLarge, many.claims], [true, []]);
    const usual = claiming(...Array.from({ length: 64 }, (_, index) => `data-web-${index}`));
    assert.deepEqual([usual.tooLarge, usual.claims.length], [false, 64]);
  });

  test('a name that is none is not kept: of its owner, of a nomination, of a refusal', () => {
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

  test('what it weighs is more with each thing that is kept of it', () => {
    const weight = (spec: object): number => weightOf(toPendingPod(api(spec)));
    const none = weight({});
    const tolerations = Array(90).fill({ operator: 'Exists' });
    assert.ok(weight({ tolerations }) > none + 90 * 100, 'an object takes more than its text');
    assert.ok(weight({ nodeSelector: { a: 'x'.repeat(1000) } }) > none + 2000);
    assert.ok(none < 4096);
  });

  test('pods that ask for the same are of one kind, whoever they are', () => {
    const kind = (spec: object, more: object = {}): string => toPendingPod(api(spec, more)).kind;
    assert.equal(
      kind({ nodeSelector: { a: 'b' } }),
      kind({ nodeSelector: { a: 'b' } }, { name: 'web-1', uid: 'u2' }),
    );
    assert.notEqual(kind({ nodeSelector: { a: 'b' } }), kind({ nodeSelector: { a: 'c' } }));
    assert.notEqual(kind({}), kind({}, { annotations: {} }));
  });

  test('one without a controller is a group of its own, one that is being deleted is leaving', () => {
    const pod = toPendingPod(api({}, { ownerReferences: null, deletionTimestamp: '2026-11-21T12:00:00Z' }));
    assert.deepEqual([pod.group, pod.leaving], ['u1', true]);
  });

  const hard: [what: string, spec: ApiPendingPod['spec'], unverifiable: boolean][] = [
    ['nothing of the kind', {}, false],
    [
      'a spread that is only wished for',
      { topologySpreadConstraints: [{ whenUnsatisfiable: 'ScheduleAnyway' }] },
      false,
    ],
    ['a spread that does not say', { topologySpreadConstraints: [{}] }, true],
    ['a spread that must be', { topologySpreadConstraints: [{ whenUnsatisfiable: 'DoNotSchedule' }] }, true],
    [
      'pods that must not be near',
      { affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{}] } } },
      true,
    ],
    [
      'pods that must be near',
      { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{}] } } },
      true,
    ],
    [
      'an empty list of those',
      { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [] } } },
      false,
    ],
    ['a port of the host', { containers: [{ ports: [{ hostPort: 80 }] }] }, true],
    ['devices', { resourceClaims: [{}] }, true],
  ];
  for (const [what, spec, unverifiable] of hard) {
    test(`only the scheduler can judge: ${what}: ${unverifiable}`, () =>
      assert.equal(toPendingPod(api(spec)).unverifiable, unverifiable));
  }
});

suite('the room on a node', () => {
  const labels = { app: 'web' };
  const placed = (uid: string, cpu: string) => ({
    metadata: {
      ...{ uid, resourceVersion: '1', name: uid, namespace: 'shop', labels, ownerReferences: [owner] },
      ...(uid === 'b' && { deletionTimestamp: '2026-11-21T12:00:00Z' }),
    },
    spec: { containers: [{ resources: { requests: { cpu } } }] },
  });
  const space = usageOf([placed('a', '100m'), placed('b', '200m')], now);
  const expected = { node: 'n2', group: 'rs-uid', requests: { cpu: 50, pods: 1 } };

  test('is what its pods left', () => {
    assert.deepEqual(freeOf({ cpu: 1000, pods: 3 }, space), { cpu: 700, pods: 1 });
    assert.equal(space.groups.get('rs-uid'), 2);
    assert.deepEqual(Object.fromEntries(space.pods), {
      a: { namespace: 'shop', labels, leaving: false },
      b: { namespace: 'shop', labels, leaving: true },
    });
  });

  test('those that are expected count, once', () => {
    const taken = takenWith(space, [
      { ...expected, uid: 'b', leftAt: undefined },
      { ...expected, uid: 'c', leftAt: undefined },
      // the list may be a second old
      { ...expected, uid: 'd', leftAt: now - 1000 },
      // it was deleted, or else the list would have it
      { ...expected, uid: 'e', leftAt: now - 1001 },
    ]);
    assert.deepEqual([taken.amounts, taken.groups.get('rs-uid')], [{ cpu: 400, pods: 4 }, 4]);
  });
});
