import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { Registry } from 'prom-client';
import { clusterMetrics } from '../../../../webhook/cluster/metrics.ts';
import { watchGate } from '../../../../webhook/cluster/view/watch-nodes.ts';
import { policyOf } from '../../../support/configurations.ts';
import type { Asked } from '../../../support/fake-api-server.ts';
import { startHostileCluster } from '../../../support/hostile-cluster.ts';
import { apiAgent, apiDaemonSet, apiNode, now } from '../../core/networks/objects.ts';

const bringing = (...names: string[]) =>
  policyOf({ profiles: [{ name: 'mesh', daemonSets: names.map((name) => ({ namespace: 'net', name })) }] });

const selected = (name: string) => {
  const { metadata, spec } = apiDaemonSet(name);
  return { metadata, spec: { ...spec, selector: { matchLabels: { app: name } } } };
};

const checks =
  '[{"profile":"mesh","address":{"timeout":"5s"}},{"profile":"made-up","address":{"timeout":"5s"}}]';

const ended = (name: string, exitCode: number, version = 2, namespace = 'shop') => ({
  metadata: {
    name,
    namespace,
    uid: name,
    resourceVersion: String(version),
    creationTimestamp: '2026-11-21T11:00:00Z',
    labels: { 'cni-gate.io/profile': 'mesh' },
  },
  spec: {
    nodeName: 'n1',
    initContainers: [{ name: 'cni-gate-validator', env: [{ name: 'CNI_GATE_CHECKS', value: checks }] }],
  },
  status: {
    initContainerStatuses: [
      {
        name: 'cni-gate-validator',
        state: {
          terminated: {
            exitCode,
            startedAt: '2026-11-21T11:00:03Z',
            finishedAt: `2026-11-21T11:00:1${version}Z`,
          },
        },
      },
    ],
  },
});

const there: Record<string, object[]> = {
  '/api/v1/nodes': [apiNode('n1', 'b1', 1)],
  '/api/v1/pods spec.nodeName!=': [ended('a', 95), ended('x', 0, 2, 'plain')],
  '/apis/apps/v1/namespaces/net/daemonsets metadata.name=agent': [selected('agent')],
  '/apis/apps/v1/namespaces/net/daemonsets metadata.name=other': [selected('other')],
  '/api/v1/namespaces/net/pods app=agent': [apiAgent('n1')],
  '/api/v1/namespaces/net/pods app=other': [apiAgent('n1', { name: 'other-n1', owner: 'other' })],
};

const keyOf = ({ path, query }: Asked): string => {
  if (path === '/api/v1/pods') return `${path} ${query.fieldSelector}`;
  return path.includes('/namespaces/') ? `${path} ${query.labelSelector ?? query.fieldSelector}` : path;
};

const optedIn = { has: (namespace: string) => namespace === 'shop', subscribe: () => () => {} };

/** Starts a gate that watches a fake API server. The test decides which events the API server sends. */
async function watching(t: TestContext, ...daemonSets: string[]) {
  let policy = bringing(...daemonSets);
  const api = await startHostileCluster(t, (key) => there[key] ?? [], keyOf);
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const inside = { metrics: clusterMetrics(new Registry()), log };
  const gate = watchGate(api.client, () => policy, inside, optedIn);
  t.after(() => gate.close());
  return {
    ...{ api, gate, watched: api.watched, tell: api.tell },
    configure: (...names: string[]): void => {
      policy = bringing(...names);
      gate.policyChanged();
    },
    state: (name: string) => gate.readiness.status(named(name), 'n1', now, 0)?.state,
  };
}

const named = (name: string) => ({ namespace: 'net', name });
const daemonSet = (name: string): string => `/apis/apps/v1/namespaces/net/daemonsets metadata.name=${name}`;
const podsOf = (name: string): string => `/api/v1/namespaces/net/pods app=${name}`;

suite('watchGate', () => {
  test('watches the pods of the DaemonSets that profiles name, also after the policy changes', async (t) => {
    const { gate, watched, configure, state, api } = await watching(t, 'agent');
    assert.match(gate.unsynced() ?? '', /^nodes, .*DaemonSet net\/agent$/);
    assert.equal(gate.notSynced(named('agent')), true);
    await Promise.all(['/api/v1/nodes', podsOf('agent')].map(watched));
    assert.deepEqual([gate.unsynced(), state('agent'), state('other')], [undefined, 'ready', undefined]);
    assert.ok(!api.asked.some((asked) => [podsOf('other'), daemonSet('other')].includes(keyOf(asked))));

    configure('agent', 'other');
    assert.equal(gate.unsynced(), 'DaemonSet net/other');
    assert.deepEqual(['agent', 'other', 'none'].map(named).map(gate.notSynced), [false, true, false]);
    await watched(podsOf('other'));
    assert.equal(gate.notSynced(named('other')), false);
    assert.deepEqual([gate.unsynced(), state('agent'), state('other')], [undefined, 'ready', 'ready']);

    configure('other');
    assert.deepEqual([gate.unsynced(), state('agent'), state('other')], [undefined, undefined, 'ready']);
  });

  test('evidence comes from labelled pods on nodes, in namespaces that opted in', async (t) => {
    const { api, gate, watched, tell } = await watching(t, 'agent');
    const { evidence } = gate;
    const pods = '/api/v1/pods spec.nodeName!=';
    const changes: string[] = [];
    evidence.subscribe((batch) => {
      for (const { before, now } of batch)
        changes.push(`${(now ?? before)?.name} ${before?.verdict ?? '-'} ${now?.verdict ?? '-'}`);
    });
    assert.equal(evidence.synced, false);
    await Promise.all([pods, '/api/v1/nodes'].map(watched));
    assert.equal(evidence.synced, true);
    const asked = api.asked.find(({ query }) => query.fieldSelector === 'spec.nodeName!=');
    assert.deepEqual([asked?.query.labelSelector, asked?.query.limit], ['cni-gate.io/profile', '100']);
    await tell(pods, 'ADDED', ended('b', 0, 3));
    await tell(pods, 'MODIFIED', ended('a', 0, 4));
    await tell(pods, 'DELETED', ended('b', 0, 5));
    assert.deepEqual(changes, ['a - failed', 'b - passed', 'a failed passed', 'b passed -']);
    const known = Array.from(evidence.pods(), ({ name }) => name);
    assert.deepEqual([known, evidence.of('mesh', 'n1')?.lastPass?.shownBy], [['a'], '4']);
    // users can name any profile in a pod, but only the profiles of the configuration are counted
    assert.equal(evidence.of('made-up', 'n1'), undefined);
    await tell('/api/v1/nodes', 'MODIFIED', apiNode('n1', 'b2', 60));
    assert.equal(evidence.of('mesh', 'n1')?.lastPass, undefined);
    await tell('/api/v1/nodes', 'DELETED', apiNode('n1', 'b2', 61));
    assert.equal(evidence.of('mesh', 'n1'), undefined);
  });

  test('a node is reserved for a pod while the pod waits', async (t) => {
    const { watched, tell, gate } = await watching(t, 'agent');
    const { reservations } = gate.evidence;
    const waiting = '/api/v1/pods spec.nodeName=';
    const pod = (resourceVersion: string) => ({
      metadata: { name: 'web', namespace: 'shop', uid: 'u1', resourceVersion },
      spec: {},
    });
    await Promise.all([waiting, '/api/v1/pods spec.nodeName!='].map(watched));
    await tell(waiting, 'ADDED', pod('60'));
    const now = Date.now();
    reservations.reserve('mesh', 'n1', 'u1', now);
    assert.equal(reservations.holder('mesh', 'n1', now + 4999), 'u1');
    await tell(waiting, 'DELETED', pod('61'));
    assert.equal(reservations.holder('mesh', 'n1', now + 4999), undefined);
  });

  test('a pod is held from a refusal that the watch or this process has seen, for as long as it waits', async (t) => {
    const { watched, tell, gate } = await watching(t, 'agent');
    const waiting = '/api/v1/pods spec.nodeName=';
    const message =
      'admission webhook "bindings.cni-gate.io" denied the request: … (CNI_GATE_NODE_NOT_READY node=n1 profile=mesh state=broken)';
    const pod = (uid: string, resourceVersion: string, conditions: object[] = []) => ({
      metadata: { name: uid, namespace: 'shop', uid, resourceVersion },
      spec: {},
      status: { conditions },
    });
    const since = (uid: string) => gate.holds.since({ uid, heldSince: undefined }, Date.now());
    await watched(waiting);
    const before = Date.now();
    await tell(waiting, 'ADDED', pod('shown', '60', [{ type: 'PodScheduled', status: 'False', message }]));
    await tell(waiting, 'ADDED', pod('silent', '61'));
    gate.holds.refuse('silent', 'n2', before);
    assert.ok((since('shown') ?? 0) >= before);
    assert.deepEqual(
      Array.from(gate.pending(), ({ uid, refused }) => [uid, refused]),
      [
        ['shown', 'n1'],
        ['silent', 'n2'],
      ],
    );
    for (const uid of ['shown', 'silent']) await tell(waiting, 'DELETED', pod(uid, '62'));
    assert.deepEqual(['shown', 'silent'].map(since), [undefined, undefined]);
  });

  test('forgets deleted objects', async (t) => {
    const { watched, tell, state, gate } = await watching(t, 'agent');
    await Promise.all(['/api/v1/nodes', podsOf('agent')].map(watched));
    const gone = (object: { metadata: object }): object => ({
      ...object,
      metadata: { ...object.metadata, resourceVersion: '60' },
    });
    await tell(podsOf('agent'), 'DELETED', gone(apiAgent('n1')));
    assert.equal(state('agent'), 'absent');
    await tell(daemonSet('agent'), 'DELETED', gone(selected('agent')));
    assert.deepEqual([state('agent'), gate.readiness.knows(named('agent'))], [undefined, false]);
    await tell('/api/v1/nodes', 'DELETED', gone(apiNode('n1', 'b1', 1)));
    assert.equal(state('agent'), undefined);
  });
});
