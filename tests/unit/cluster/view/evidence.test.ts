import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Registry } from 'prom-client';
import { clusterMetrics } from '../../../../webhook/cluster/metrics.ts';
import { watchGate } from '../../../../webhook/cluster/view/watch-nodes.ts';
import { policyOf } from '../../../support/configurations.ts';
import type { Asked } from '../../../support/fake-api-server.ts';
import { startWatchedApi } from '../../../support/watched-api.ts';
import { apiNode } from '../../core/networks/objects.ts';

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

suite('the evidence of a cluster', () => {
  test('comes from the pods on nodes that carry the label, in namespaces that opted in', async (t) => {
    const there = {
      '/api/v1/pods spec.nodeName!=': [ended('a', 95), ended('x', 0, 2, 'plain')],
      '/api/v1/nodes ': [apiNode('n1', 'b1', 1)],
    };
    const keyOf = ({ path, query }: Asked): string => `${path} ${query.fieldSelector ?? ''}`;
    const { api, watched, tell } = await startWatchedApi(t, keyOf, there);
    const log = { info: () => {}, warn: () => {}, error: () => {} };
    const policy = policyOf({ profiles: [{ name: 'mesh' }] });
    const inside = { metrics: clusterMetrics(new Registry()), log };
    const optedIn = { has: (namespace: string) => namespace === 'shop', subscribe: () => () => {} };
    const view = watchGate(api.client, () => policy, inside, optedIn);
    t.after(() => view.close());
    const changes: string[] = [];
    const { evidence } = view;
    evidence.subscribe((batch) => {
      for (const { before, now } of batch) {
        changes.push(`${(now ?? before)?.name} ${before?.verdict ?? '-'} ${now?.verdict ?? '-'}`);
      }
    });
    assert.equal(evidence.synced, false);
    const pods = '/api/v1/pods spec.nodeName!=';
    await watched(pods);
    await watched('/api/v1/nodes ');
    assert.equal(evidence.synced, true);
    const asked = api.asked.find(({ query }) => query.fieldSelector === 'spec.nodeName!=');
    assert.deepEqual([asked?.query.labelSelector, asked?.query.limit], ['cni-gate.io/profile', '100']);
    await tell(pods, 'ADDED', ended('b', 0, 3));
    await tell(pods, 'MODIFIED', ended('a', 0, 4));
    await tell(pods, 'DELETED', ended('b', 0, 5));
    assert.deepEqual(changes, ['a - failed', 'b - passed', 'a failed passed', 'b passed -']);
    assert.deepEqual(
      Array.from(evidence.pods(), ({ name }) => name),
      ['a'],
    );
    assert.equal(evidence.of('mesh', 'n1')?.lastPass?.shownBy, '4');
    // users can name any profile, and only those of the configuration are counted
    assert.equal(evidence.of('made-up', 'n1'), undefined);
    await tell('/api/v1/nodes ', 'MODIFIED', apiNode('n1', 'b2', 60));
    assert.equal(evidence.of('mesh', 'n1')?.lastPass, undefined);
    await tell('/api/v1/nodes ', 'DELETED', apiNode('n1', 'b2', 61));
    assert.equal(evidence.of('mesh', 'n1'), undefined);
  });
});
