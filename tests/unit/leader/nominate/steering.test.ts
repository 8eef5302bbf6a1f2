import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { usesNominations } from '../../../../webhook/leader/nominate/eligibility.ts';
import type { PendingPod } from '../../../../webhook/leader/nominate/pending-pod.ts';
import { json, status } from '../../../support/fake-api-server.ts';
import { clusterWith } from '../../admission/gate/support.ts';
import { type Scene, steering, switchedLead, until } from './steering.ts';
import { waiting } from './support.ts';

// the nodes of these tests have no allocatable resources
const web = waiting('web', { requests: {}, heldSince: Date.now() });
/** Longer than a resync. */
const aWhile = 2500;
const longAgo = Date.now() - 20_000;

suite('steering', () => {
  test('lists the pods of the ready node, and nominates it on exactly the version of the pod that it saw', async (t) => {
    const { lines, events, api, patches, state, counted } = await steering(t, { pods: [web] });
    await until(() => events.length > 0);
    assert.equal(await state(), 'steering');
    assert.deepEqual(
      api.asked.map(({ method, path, query }) => [method, path, query.fieldSelector]),
      [
        ['GET', '/version', undefined],
        ['GET', '/api/v1/pods', 'spec.nodeName=n2,status.phase!=Succeeded,status.phase!=Failed'],
        ['PATCH', '/api/v1/namespaces/shop/pods/web/status', undefined],
      ],
    );
    const [patch] = patches();
    assert.equal(patch?.headers['content-type'], 'application/merge-patch+json');
    assert.deepEqual(JSON.parse(patch?.body ?? ''), {
      metadata: { uid: 'web-uid', resourceVersion: '10' },
      status: { nominatedNodeName: 'n2' },
    });
    const why = 'it is ready for mesh and has free capacity';
    assert.equal(lines[0]?.text, `pod shop/web, refused on node n1, is nominated for node n2: ${why}`);
    assert.deepEqual(
      events.map(({ regarding, reason, node, occasion }) => [regarding.uid, reason, node, occasion]),
      [['web-uid', 'NodeNominated', 'n2', '11']],
    );
    assert.equal(await counted('cni_gate_nominations_total', { result: 'made' }), 1);
  });

  test('does nothing before Kubernetes 1.35, and logs that once', async (t) => {
    const { lines, api, state } = await steering(t, {
      pods: [web],
      version: { major: '1', minor: '34+', gitVersion: 'v1.34.2-eks' },
    });
    await sleep(aWhile);
    assert.deepEqual(lines, [
      {
        level: 'info',
        text: 'refused pods are not steered: the API server is v1.34.2-eks, and schedulers use nominations from 1.35 on',
      },
    ]);
    assert.deepEqual([api.asked.length, await state()], [1, 'api-server-too-old']);
  });

  const idle: [state: string, scene: Partial<Scene>][] = [
    ['off', { steer: { mode: 'off' } }],
    ['standby', { leader: switchedLead(false).leader }],
    ['no-namespace', { leader: undefined }],
  ];
  for (const [expected, scene] of idle) {
    test(`sends no request in state ${expected}`, async (t) => {
      const { api, state } = await steering(t, { pods: [web], ...scene });
      await sleep(100);
      assert.deepEqual([await state(), api.asked], [expected, []]);
    });
  }

  const left: [what: string, pod: Partial<PendingPod>][] = [
    ['whose refused node is ready now', { refused: 'n2' }],
    ['that the gate did not refuse', { refused: undefined }],
    ['that is being deleted', { leaving: true }],
    ['whose requirements are too large', { tooLarge: true }],
    ['that another component nominated for a ready node', { nominated: 'n2' }],
    ['that fits no node', { requests: { cpu: 1 } }],
  ];
  for (const [what, more] of left) {
    test(`nominates no node for a pod ${what}`, async (t) => {
      const other = waiting('other', { requests: {}, key: 'b/other' });
      const { nominated } = await steering(t, { pods: [{ ...web, ...more }, other] });
      await until(() => nominated().length > 0);
      await sleep(50);
      assert.deepEqual(nominated(), [['other', 'n2']]);
    });
  }

  test('replaces a nomination for a node that is not ready, or is gone', async (t) => {
    const pods = ['n1', 'n9'].map((nominated) => waiting(`for-${nominated}`, { requests: {}, nominated }));
    const { nominated } = await steering(t, { pods });
    await until(() => nominated().length === 2);
  });

  test('after a conflict, the newer version of the pod is nominated', async (t) => {
    const pods = [web];
    const { patches, events, changed } = await steering(t, {
      pods,
      answer: ({ method, body }, response) => {
        if (method !== 'PATCH' || JSON.parse(body).metadata.resourceVersion === '12') return false;
        json(response, 409, status(409, 'Conflict', 'the object has been modified'));
        return true;
      },
    });
    await until(() => patches().length === 1);
    assert.deepEqual(events, [], 'it was not nominated');
    pods[0] = { ...web, version: '12' };
    changed(pods[0]);
    await until(() => events.length === 1);
  });

  test('after an outage of the API server, it tries again', async (t) => {
    let faults = 1;
    const { lines } = await steering(t, {
      pods: [web],
      answer: ({ method }, response) => {
        if (method !== 'PATCH' || faults === 0) return false;
        faults -= 1;
        json(response, 503, status(503, 'ServiceUnavailable', 'etcd is away'));
        return true;
      },
    });
    await until(() => lines.some(({ level }) => level === 'info'));
    assert.match(
      lines[0]?.text ?? '',
      /^refused pods cannot be steered: .*etcd is away; cni-gate tries again$/,
    );
  });

  test('a new leader does not wait for the back-off of a key', async (t) => {
    const { leader, lead } = switchedLead();
    const pods = [web];
    const { patches, counted, changed, lines } = await steering(t, { pods, leader });
    await until(() => lines.length > 0);
    pods[0] = { ...web, version: '12' };
    changed(pods[0]);
    await until(() => lines.some(({ text }) => text.includes('ignored by the scheduler')));
    assert.equal(await counted('cni_gate_nomination_outcomes_total', { outcome: 'ignored' }), 1);
    await sleep(aWhile);
    assert.equal(patches().length, 1, 'it backs off');
    lead(false);
    lead(true);
    await until(() => patches().length === 2);
  });
});

suite('several pods', () => {
  const crowd = (count: number, more: Partial<PendingPod> = {}): PendingPod[] =>
    Array.from({ length: count }, (_, index) =>
      waiting(`web-${index}`, { requests: {}, heldSince: Date.now(), ...more }),
    );

  test('spread over the nodes', async (t) => {
    const readiness = clusterWith({ n1: { ready: false }, n2: {}, n3: {}, n4: {} });
    const { nominated } = await steering(t, { pods: crowd(6), readiness });
    await until(() => nominated().length === 6);
    const byNode = Map.groupBy(nominated(), ([, node]) => node);
    assert.deepEqual(
      [...byNode.values()].map(({ length }) => length),
      [2, 2, 2],
    );
  });

  test('get no more nominations than a node has room for, with what runs there and what is nominated', async (t) => {
    const readiness = clusterWith({ n1: { ready: false }, n2: {} });
    for (const node of readiness.nodes()) node.allocatable = { cpu: 1000 };
    const requests = { cpu: 100 };
    const running = {
      metadata: { uid: 'a', resourceVersion: '1', name: 'a' },
      spec: { containers: [{ resources: { requests: { cpu: '550m' } } }] },
    };
    const elsewhere = waiting('elsewhere', { nominated: 'n2', requests: { cpu: 200 }, key: 'b/other' });
    const { nominated, events, api } = await steering(t, {
      pods: [...crowd(5, { requests, heldSince: longAgo }), elsewhere],
      readiness,
      answer: ({ method }, response) => {
        if (method !== 'GET') return false;
        json(response, 200, { items: [running] });
        return true;
      },
    });
    await until(() => events.some(({ reason }) => reason === 'NotNominated'));
    assert.deepEqual(
      nominated().map(([, node]) => node),
      ['n2', 'n2'],
    );
    assert.equal(api.asked.filter(({ path }) => path === '/api/v1/pods').length, 1, 'one answer for all');
  });

  test('that only the scheduler can judge: one is tried first', async (t) => {
    const pods = crowd(3, { unverifiable: true });
    const { nominated, changed } = await steering(t, { pods });
    await until(() => nominated().length > 0);
    await sleep(aWhile);
    assert.equal(nominated().length, 1);
    const [bound] = pods.splice(0, 1);
    if (bound !== undefined) changed(bound);
    await until(() => nominated().length === 3);
  });

  test('with volumes stay in the zone of the refused node', async (t) => {
    const readiness = clusterWith({ n1: { ready: false }, n2: {}, n3: {} });
    for (const node of readiness.nodes())
      node.labels['topology.kubernetes.io/zone'] = node.name === 'n2' ? 'b' : 'a';
    const { nominated } = await steering(t, { pods: crowd(1, { hasVolumes: true }), readiness });
    await until(() => nominated().length > 0);
    assert.deepEqual(nominated(), [['web-0', 'n3']]);
  });
});

suite('a pod that no node is nominated for', () => {
  test('gets an event that counts the nodes by what is wrong with them', async (t) => {
    const readiness = clusterWith({ n1: { ready: false }, n2: {}, n3: { ready: false } });
    const pods = [waiting('web', { requests: { gpu: 1 }, heldSince: longAgo })];
    const { events } = await steering(t, { pods, readiness });
    await until(() => events.length > 1);
    const [one, other] = events;
    assert.deepEqual(
      [one?.reason, one?.type, one?.regarding.uid, one?.note],
      ['NotNominated', 'Normal', 'web-uid', '3 nodes: 2 not ready for mesh, 1 too small'],
    );
    assert.equal(one?.occasion, other?.occasion, 'it is the same event');
  });

  test('gets no event in its first seconds', async (t) => {
    const { events } = await steering(t, {
      pods: [waiting('web', { requests: { gpu: 1 }, heldSince: Date.now() })],
    });
    await sleep(aWhile);
    assert.deepEqual(events, []);
  });

  test('gets an event about a long hold with every state', async (t) => {
    const pods = [waiting('web', { heldSince: Date.now() - 600_000 })];
    const { events } = await steering(t, { pods, steer: { mode: 'off' } });
    await until(() => events.length > 0);
    assert.equal(events[0]?.reason, 'HeldForLong');
    assert.match(events[0]?.note ?? '', /No other node is nominated: steer\.mode is off\./);
  });
});

test('schedulers use nominations from Kubernetes 1.35 on', () => {
  const goes = (major: string, minor: string): boolean => usesNominations({ major, minor });
  assert.deepEqual(
    [goes('1', '34'), goes('1', '35'), goes('1', '36+'), goes('2', '0'), goes('', '')],
    [false, true, true, true, false],
  );
});
