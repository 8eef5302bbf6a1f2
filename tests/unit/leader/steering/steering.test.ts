import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Leadership } from '../../../../webhook/cluster/leadership.ts';
import type { PendingPod } from '../../../../webhook/core/facts/pending-pod.ts';
import type { Verdict } from '../../../../webhook/core/facts/pod-evidence.ts';
import { Evidence, type EvidenceView, noEvidence } from '../../../../webhook/core/networks/evidence.ts';
import type { Readiness } from '../../../../webhook/core/networks/readiness.ts';
import type { Configuration } from '../../../../webhook/core/profiles/types.ts';
import { runSteering } from '../../../../webhook/leader/start.ts';
import { usesNominations } from '../../../../webhook/leader/steering/version.ts';
import { policyOf } from '../../../support/configurations.ts';
import { eventually } from '../../../support/eventually.ts';
import { type Asked, json, status } from '../../../support/fake-api-server.ts';
import { clusterWith } from '../../admission/gate/support.ts';
import { podEvidence } from '../../core/networks/support.ts';
import { type Answer, resync, running, switchedLead, until } from '../scene.ts';
import { waiting } from './support.ts';

const daemonSets = [{ namespace: 'net', name: 'agent' }];
const profiles = [{ name: 'mesh', daemonSets, proof: { checks: [{ address: {} }] } }];

interface Scene {
  pods: PendingPod[];
  steer?: Configuration['steer'];
  leader?: Leadership;
  version?: { major: string; minor: string; gitVersion: string };
  /** By default, n1 is not ready and n2 is ready. */
  readiness?: Readiness;
  evidence?: EvidenceView;
  /** Answers all requests except `GET /version`; by default, nodes have no pods, and every write is accepted. */
  answer?: Answer;
}

async function steering(t: TestContext, scene: Scene) {
  const { version = { major: '1', minor: '36', gitVersion: 'v1.36.3' } } = scene;
  const subscribers = new Set<(pods: readonly PendingPod[]) => void>();
  const view = {
    readiness: scene.readiness ?? clusterWith({ n1: { ready: false }, n2: {} }),
    evidence: scene.evidence ?? noEvidence,
    pending: () => scene.pods,
    unsynced: () => undefined,
    subscribe: (changed: (pods: readonly PendingPod[]) => void) => {
      subscribers.add(changed);
      return () => subscribers.delete(changed);
    },
  };
  const policy = () => policyOf({ profiles, steer: scene.steer ?? { mode: 'nominate' } });
  const { answer = () => false, leader = switchedLead().leader } = scene;
  const more = await running(t, runSteering, { view, policy, leader }, (asked, response) =>
    asked.path === '/version' ? json(response, 200, version) : answer(asked, response),
  );
  const patches = (): Asked[] => more.api.asked.filter(({ method }) => method === 'PATCH');
  return {
    ...more,
    patches,
    nominated: () =>
      patches().map(({ path, body }) => [path.split('/').at(-2), JSON.parse(body).status.nominatedNodeName]),
    changed: (...pods: PendingPod[]) => {
      for (const one of subscribers) one(pods);
    },
    state: async () => Object.keys(await more.count('cni_gate_steer_state'))[0],
  };
}

// the pod requests nothing, because the nodes of these tests have no allocatable resources
const web = waiting('web', { requests: {}, heldSince: Date.now() });
const aWhile = 2 * resync;
const longAgo = Date.now() - 20_000;

suite('steering', () => {
  test('lists the pods of the ready node, and nominates it for exactly the version of the pod that it saw', async (t) => {
    const { lines, events, api, patches, state, count } = await steering(t, { pods: [web] });
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
    assert.deepEqual(JSON.parse(patches()[0]?.body ?? ''), {
      metadata: { uid: 'web-uid', resourceVersion: '10' },
      status: { nominatedNodeName: 'n2' },
    });
    const why = 'it is ready for mesh and has free capacity';
    assert.equal(lines[0]?.text, `pod shop/web, refused on node n1, is nominated for node n2: ${why}`);
    assert.deepEqual(
      events.map(({ regarding, reason, node, occasion }) => [regarding.uid, reason, node, occasion]),
      [['web-uid', 'NodeNominated', 'n2', '11']],
    );
    assert.deepEqual(await count('cni_gate_nominations_total'), { made: 1 });
  });

  test('does nothing before Kubernetes 1.35', async (t) => {
    const version = { major: '1', minor: '34+', gitVersion: 'v1.34.2-eks' };
    const { api, state } = await steering(t, { pods: [web], version });
    await sleep(aWhile);
    assert.equal(await state(), 'api-server-too-old');
    assert.deepEqual(new Set(api.asked.map(({ path }) => path)), new Set(['/version']));
    const goes = (major: string, minor: string): boolean => usesNominations({ major, minor });
    assert.deepEqual(
      [goes('1', '34'), goes('1', '35'), goes('1', '36+'), goes('2', '0'), goes('', '')],
      [false, true, true, true, false],
    );
  });

  const idle: [state: string, scene: Partial<Scene>][] = [
    ['off', { steer: { mode: 'off' } }],
    ['standby', { leader: switchedLead(false).leader }],
  ];
  for (const [expected, scene] of idle) {
    test(`sends no request in state ${expected}`, async (t) => {
      const { api, state } = await steering(t, { pods: [web], ...scene });
      await sleep(100);
      assert.deepEqual([await state(), api.asked], [expected, []]);
    });
  }

  test('nominates no node for pods that need or fit none, and replaces a nominated node that is not ready', async (t) => {
    const left: [what: string, pod: Partial<PendingPod>][] = [
      ['refused-by-ready', { refused: 'n2' }],
      ['not-refused', { refused: undefined }],
      ['deleted', { leaving: true }],
      ['too-large', { tooLarge: true }],
      ['nominated-by-others', { nominated: 'n2' }],
      ['fits-none', { requests: { cpu: 1 } }],
    ];
    const pods = ['n1', 'n9'].map((nominated) => waiting(`for-${nominated}`, { requests: {}, nominated }));
    pods.unshift(...left.map(([name, more]) => waiting(name, { requests: {}, ...more, key: `a/${name}` })));
    const { nominated } = await steering(t, { pods });
    await until(() => nominated().length === 2);
    await sleep(50);
    assert.deepEqual(
      nominated().map(([name]) => name),
      ['for-n1', 'for-n9'],
    );
  });

  test('nominates no node on which two pods of the same owner have just failed', async (t) => {
    const evidence = new Evidence();
    for (const [at, verdict] of ['waiting', 'failed', 'waiting', 'failed'].entries())
      evidence.apply(
        [
          {
            type: 'put',
            pod: podEvidence({ uid: `${at >> 1}`, node: 'n2', verdict: verdict as Verdict }),
            listed: false,
          },
        ],
        Date.now() + at,
      );
    evidence.markSynced();
    const { nominated, state } = await steering(t, { pods: [web], evidence });
    await eventually(state, 'steering');
    await sleep(aWhile);
    assert.deepEqual(nominated(), []);
  });

  test('nominates a node for a pod even if no event reports its refusal', async (t) => {
    const pods = [waiting('web', { requests: {}, refused: undefined })];
    const { nominated, state } = await steering(t, { pods });
    await eventually(state, 'steering');
    pods[0] = web;
    await until(() => nominated().length === 1);
  });

  test('after a conflict, the newer version of the pod is nominated', async (t) => {
    const pods = [web];
    const { patches, events, changed } = await steering(t, {
      pods,
      answer: ({ method, body }, response) =>
        method === 'PATCH' && JSON.parse(body).metadata.resourceVersion !== '12'
          ? json(response, 409, status(409, 'Conflict', 'the object has been modified'))
          : false,
    });
    await until(() => patches().length === 1);
    assert.deepEqual(events, [], 'it was not nominated');
    pods[0] = { ...web, version: '12' };
    changed(pods[0]);
    await until(() => events.length === 1);
  });

  test('a new leader does not wait for the back-off of a key', async (t) => {
    const { leader, lead } = switchedLead();
    const pods = [web];
    const { patches, count, changed, lines } = await steering(t, { pods, leader });
    await until(() => lines.length > 0);
    pods[0] = { ...web, version: '12' };
    changed(pods[0]);
    await until(() => lines.some(({ text }) => text.includes('did not use the nomination')));
    assert.deepEqual(await count('cni_gate_nomination_outcomes_total'), { ignored: 1 });
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

  test('get no more nominations than fit the node, including running and nominated pods', async (t) => {
    const readiness = clusterWith({ n1: { ready: false }, n2: {} });
    for (const node of readiness.nodes()) node.allocatable = { cpu: 1000 };
    const containers = [{ resources: { requests: { cpu: '550m' } } }];
    const metadata = { uid: 'a', resourceVersion: '1', name: 'a' };
    const elsewhere = waiting('elsewhere', { nominated: 'n2', requests: { cpu: 200 }, key: 'b/other' });
    const { nominated, events, api } = await steering(t, {
      pods: [...crowd(5, { requests: { cpu: 100 }, heldSince: longAgo }), elsewhere],
      readiness,
      answer: ({ method }, response) =>
        method === 'GET' ? json(response, 200, { items: [{ metadata, spec: { containers } }] }) : false,
    });
    await until(() => events.some(({ reason }) => reason === 'NotNominated'));
    assert.equal(nominated().length, 2);
    assert.equal(api.asked.filter(({ path }) => path === '/api/v1/pods').length, 1, 'one request for all');
  });
});

suite('a pod without a nominated node', () => {
  const gpu = (heldSince: number): PendingPod => waiting('web', { requests: { gpu: 1 }, heldSince });

  test('gets an event that counts the nodes that are not ready', async (t) => {
    const readiness = clusterWith({ n1: { ready: false }, n2: {}, n3: { ready: false } });
    const { events, api } = await steering(t, { pods: [gpu(longAgo)], readiness });
    await until(() => events.length > 1);
    const [one, other] = events;
    assert.deepEqual(
      [one?.reason, one?.regarding.uid, one?.note],
      [
        'NotNominated',
        'web-uid',
        'nodes that are not ready for mesh: 2; no other node fits the pod and has free capacity',
      ],
    );
    assert.equal(one?.occasion, other?.occasion, 'it is the same event');
    assert.deepEqual(
      new Set(api.asked.map(({ path }) => path)),
      new Set(['/version']),
      'n2 is too small to ask',
    );
  });

  test("with volumes, and without another node in the refused node's zone, gets an event that says so", async (t) => {
    const readiness = clusterWith({ n1: { ready: false }, n2: {} });
    for (const node of readiness.nodes()) node.labels = { 'topology.kubernetes.io/zone': `of-${node.name}` };
    const pods = [waiting('web', { requests: {}, heldSince: longAgo, hasVolumes: true })];
    const { events, patches } = await steering(t, { pods, readiness });
    await until(() => events.length > 0);
    assert.match(events[0]?.note ?? '', /not ready for mesh: 1; no other node fits the pod/);
    assert.deepEqual(patches(), []);
  });

  test('gets no event in its first seconds', async (t) => {
    const { events } = await steering(t, { pods: [gpu(Date.now())] });
    await sleep(aWhile);
    assert.deepEqual(events, []);
  });
});
