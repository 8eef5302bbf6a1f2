import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { suite, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Registry } from 'prom-client';
import { clusterMetrics } from '../../../../webhook/cluster/metrics.ts';
import { watchNamespaces } from '../../../../webhook/cluster/view/watch-namespaces.ts';
import { watchGate } from '../../../../webhook/cluster/view/watch-nodes.ts';
import { relist } from '../../../../webhook/lib/limits.ts';
import { policyOf } from '../../../support/configurations.ts';
import { eventually } from '../../../support/eventually.ts';
import {
  namespaceOf,
  pendingPod,
  podsOnNodes,
  startHostileCluster,
} from '../../../support/hostile-cluster.ts';
import { apiAgent, apiDaemonSet, apiNode } from '../../core/networks/objects.ts';

const optedIn = { 'cni-gate.io/profile': 'mesh' };
const claimName = 'x'.repeat(1_300_000);
const policy = policyOf({ profiles: [{ name: 'mesh', daemonSets: [{ namespace: 'net', name: 'agent' }] }] });
const { metadata, spec } = apiDaemonSet('agent');
const agents = '/api/v1/namespaces/net/pods';
const agent = { namespace: 'net', name: 'agent' };

const ordinary: Record<string, (object | string)[]> = {
  '/api/v1/nodes': [apiNode('n1', 'b1', 1)],
  '/apis/apps/v1/namespaces/net/daemonsets': [
    { metadata, spec: { ...spec, selector: { matchLabels: { app: 'agent' } } } },
  ],
  [agents]: [apiAgent('n1')],
  '/api/v1/namespaces': [namespaceOf('shop', true), namespaceOf('tenant', false)],
};

/** Starts a gate and its view of namespaces, in a fake cluster with a test's objects. */
async function watching(t: TestContext, there: Record<string, (object | string)[]>) {
  const objects = { ...ordinary, ...there };
  const api = await startHostileCluster(t, (path) => objects[path] ?? []);
  const registry = new Registry();
  const warned: string[] = [];
  const log = { info: () => {}, warn: (_: object, text: string) => warned.push(text), error: () => {} };
  const inside = { metrics: clusterMetrics(registry), log };
  const namespaces = watchNamespaces(api.client, inside);
  const gate = watchGate(api.client, () => policy, inside, namespaces.optedIn);
  t.after(() => Promise.all([gate.close(), namespaces.close()]));
  // the pods are listed a second time once the namespaces are known; an event before that list would be lost
  const lists = (): number =>
    api.asked.filter(
      ({ query }) => query.fieldSelector === 'spec.nodeName=' && !query.watch && !query.continue,
    ).length;
  await eventually(() => lists() === 2, true);
  const names = (): string[] =>
    Array.from(gate.pending(), ({ namespace, name }) => `${namespace}/${name}`).sort();
  return {
    api,
    gate,
    facts: async (name: string) => namespaces.value.facts(name),
    lists,
    names,
    warned,
    leftOut: async (reason: string): Promise<number> => {
      const metric = await registry.getSingleMetric('cni_gate_cluster_objects_left_out_total')?.get();
      const found = (metric?.values ?? []).filter(({ labels }) => labels.reason === reason);
      return found.reduce((total, { value }) => total + value, 0);
    },
  };
}

suite('objects that any user can create', { timeout: 300_000 }, () => {
  test('pods of a namespace that did not opt in are not kept, until it does', async (t) => {
    t.mock.property(relist, 'next', 300);
    const pods = [pendingPod('tenant', 'a'), pendingPod('shop', 'a'), pendingPod('gone', 'a')];
    const { api, lists, names, leftOut } = await watching(t, { '/api/v1/pods': pods });
    await eventually(() => names().length === 1, true);
    assert.deepEqual(names(), ['shop/a']);
    assert.ok((await leftOut('not-wanted')) >= 2);
    await api.send('/api/v1/pods', 'ADDED', pendingPod('tenant', 'b'));
    await api.send('/api/v1/pods', 'ADDED', pendingPod('shop', 'b'));
    await eventually(() => names().length === 2, true);
    assert.deepEqual(names(), ['shop/a', 'shop/b']);
    pods.push(pendingPod('shop', 'b'));
    await api.send('/api/v1/namespaces', 'MODIFIED', namespaceOf('tenant', true, '60'));
    await eventually(() => names().includes('tenant/a'), true);
    await api.send('/api/v1/namespaces', 'MODIFIED', namespaceOf('tenant', false, '61'));
    await eventually(() => !names().includes('tenant/a'), true);
    assert.deepEqual([names(), lists()], [['shop/a', 'shop/b'], 4]);
  });

  test('a pod that grows over the limit is dropped, and counted and logged', async (t) => {
    const { api, names, leftOut, warned } = await watching(t, { '/api/v1/pods': [pendingPod('shop', 'a')] });
    await eventually(() => names().length === 1, true);
    await api.send('/api/v1/pods', 'MODIFIED', pendingPod('shop', 'a', { claimName }));
    await eventually(() => names().length === 0, true);
    assert.equal(await leftOut('too-large'), 1);
    assert.deepEqual(warned, [
      'shop/a of unscheduled pods is not known here: it is larger than cni-gate reads',
    ]);
    await api.send('/api/v1/pods', 'MODIFIED', pendingPod('shop', 'a'));
    await eventually(() => names().length === 1, true);
  });

  test('a pod of a DaemonSet is known, although its kubelet gives a reason of 700 KB', async (t) => {
    const { api, gate } = await watching(t, { [agents]: [apiAgent('n1', { ready: false })] });
    const isBroken = (): boolean => gate.readiness.status(agent, 'n1', Date.now(), 0)?.state === 'broken';
    await eventually(() => gate.unsynced() === undefined && isBroken(), true);
    const waiting = 'x'.repeat(700_000);
    await api.send(agents, 'MODIFIED', apiAgent('n1', { ready: false, version: 3, waiting }));
    await eventually(
      () => gate.readiness.status(agent, 'n1', Date.now(), 0)?.reason.includes('xxx') === true,
      true,
    );
    assert.deepEqual([gate.notSynced(agent), isBroken()], [false, true]);
  });

  test('a known namespace or pod is answered immediately; another one is requested by its name', async (t) => {
    const recreated = pendingPod('shop', 'a') as ReturnType<typeof apiAgent>;
    const empty = { name: 'empty', uid: 'e', resourceVersion: '5', labels: { 'cni-gate.io/profile': '' } };
    const { api, gate, facts } = await watching(t, {
      '/api/v1/namespaces': [...(ordinary['/api/v1/namespaces'] ?? []), { metadata: empty }],
      '/api/v1/namespaces/late': [namespaceOf('late', true)],
      '/api/v1/pods': [pendingPod('shop', 'a')],
      '/api/v1/namespaces/shop/pods/a': [{ ...recreated, metadata: { ...recreated.metadata, uid: 'new' } }],
    });
    await eventually(() => [...gate.pending()].length === 1, true);
    const labels = async (name: string) => (await facts(name))?.labels;
    const uid = async (asked: string) => (await gate.pods.pod('shop', 'a', asked))?.uid;
    assert.deepEqual(
      [await labels('shop'), await uid('shop-a'), await uid('')],
      [optedIn, 'shop-a', 'shop-a'],
    );
    assert.deepEqual(await labels('empty'), empty.labels);
    const asked = () =>
      api.asked.map(({ path }) => path).filter((path) => /\w\/(late|tenant|empty|a)$/.test(path));
    assert.deepEqual(asked(), []);
    const [list] = api.asked.filter(({ path }) => path === '/api/v1/namespaces');
    assert.equal(list?.query.labelSelector, 'cni-gate.io/profile');
    assert.deepEqual([await labels('late'), await labels('tenant')], [optedIn, undefined]);
    assert.deepEqual([await uid('new'), await uid('other')], ['new', undefined]);
    const namespaces = ['/api/v1/namespaces/late', '/api/v1/namespaces/tenant'];
    assert.deepEqual(asked(), [...namespaces, '/api/v1/namespaces/shop/pods/a']);
  });

  test('100 MB of them fit into a heap of 48 MiB', async (t) => {
    const large = (namespace: string, index: number): string =>
      JSON.stringify(pendingPod(namespace, `large-${index}`, { claimName }));
    const all = [
      ...Array.from({ length: 40 }, (_, index) => large('tenant', index)),
      ...Array.from({ length: 40 }, (_, index) => large('shop', index)),
      ...Array.from({ length: 30 }, (_, index) => pendingPod('shop', `web-${index}`)),
    ];
    const objects: typeof ordinary = {
      ...ordinary,
      '/api/v1/pods': all,
      [podsOnNodes]: all,
    };
    const api = await startHostileCluster(t, (path) => objects[path] ?? []);
    const child = fileURLToPath(new URL('../../../support/watching-child.ts', import.meta.url));
    const { stdout } = await promisify(execFile)(process.execPath, [
      '--max-old-space-size=48',
      child,
      api.url,
      '30',
    ]);
    const { waiting, heap, rss } = JSON.parse(stdout);
    t.diagnostic(`heap ${heap >> 20} MiB, rss ${rss >> 20} MiB`);
    assert.equal(waiting, 30);
    assert.ok(rss < 220 * 2 ** 20, `${rss} bytes`);
  });
});
