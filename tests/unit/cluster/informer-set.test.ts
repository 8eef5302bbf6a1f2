import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Registry } from 'prom-client';
import { InformerFactory, InformerSet } from '../../../webhook/cluster/informer/informer-factory.ts';
import type { ApiObject, Source } from '../../../webhook/cluster/informer/object.ts';
import { ClusterMetrics } from '../../../webhook/cluster/metrics.ts';
import { json, startFakeApi } from '../../support/fake-api-server.ts';
import { listOf, namespace } from '../../support/informing.ts';

type PodSource = Source<ApiObject, string>;

const source = (name: string, query = {}): [string, PodSource] => [
  name,
  {
    resource: `pods of ${name}`,
    path: `/api/v1/namespaces/${name}/pods`,
    query,
    pick: ({ metadata }) => metadata.name,
  },
];

/** A set on an API server that lists one object for each source, with its name. */
async function informerSet(t: TestContext) {
  const api = await startFakeApi(t, ({ path, query }, response) => {
    const name = path.split('/')[4] ?? '';
    if (query.watch !== undefined) response.writeHead(200).flushHeaders();
    else json(response, 200, listOf('5', [namespace(name, '1')]));
  });
  const registry = new Registry();
  const log = { info: () => {}, warn: () => {}, error: () => {} };
  const informers = new InformerFactory(api.client, { metrics: new ClusterMetrics(registry), log });
  t.after(() => informers.close());
  const reported: string[] = [];
  const set = new InformerSet<ApiObject, string>(informers, (changes) =>
    reported.push(...changes.map(({ type, key }) => `${type} ${key}`)),
  );
  return {
    set,
    /** Watches these sources. @returns the changes that the set reports until all are listed */
    watch: async (...sources: [string, PodSource][]): Promise<string[]> => {
      reported.length = 0;
      set.watch(new Map(sources));
      await set.whenSynced();
      return [...reported];
    },
    lists: () => api.asked.filter(({ query }) => query.watch === undefined).map(({ path }) => path),
    measured: async (): Promise<string[]> => {
      const [objects] = (await registry.getMetricsAsJSON()).filter(
        ({ name }) => name === 'cni_gate_cluster_objects',
      );
      return (objects?.values ?? []).map(({ labels }) => String(labels.resource));
    },
  };
}

test('a source that is removed reports deletions and loses its metrics; one that stays is not listed again', async (t) => {
  const { set, watch, lists, measured } = await informerSet(t);
  assert.deepEqual((await watch(source('a'), source('b'))).toSorted(), ['added a', 'added b']);
  assert.deepEqual([...set.list()], ['a', 'b']);
  assert.deepEqual(await measured(), ['pods of a', 'pods of b']);
  assert.deepEqual(await watch(source('b')), ['deleted a']);
  assert.deepEqual([...set.list()], ['b']);
  assert.equal(set.get('a'), undefined);
  assert.deepEqual(await measured(), ['pods of b']);
  assert.equal(lists().length, 2);
});

test('a source that asks for something else starts again', async (t) => {
  const { watch, lists } = await informerSet(t);
  await watch(source('a', { labelSelector: 'x' }));
  assert.deepEqual(await watch(source('a', { labelSelector: 'x' })), []);
  assert.deepEqual(await watch(source('a', { labelSelector: 'y' })), ['deleted a', 'added a']);
  assert.equal(lists().length, 2);
});
