import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ApiObject } from '../../../../webhook/cluster/informer/object.ts';
import { Store } from '../../../../webhook/cluster/informer/store.ts';
import { defaultLimits, Lookup, type LookupResult } from '../../../../webhook/cluster/lookup.ts';
import { ClusterNamespaces, namespaceByName } from '../../../../webhook/cluster/view/watch-namespaces.ts';
import { json, startFakeApi, status } from '../../../support/fake-api-server.ts';
import { namespace } from '../../../support/informing.ts';

const labels = { 'cni-gate.io/profile': 'cilium' };
const limits = { ...defaultLimits, bound: 200, firstTry: 50, remember: 60_000, keys: 10 };

type Facts = { labels: Record<string, string> };
type Subscriber = Parameters<ConstructorParameters<typeof ClusterNamespaces>[0]['subscribe']>[0];

/** Namespaces over a store that the test fills, which tells as an informer does. */
function over(lookup: Lookup<ApiObject, Facts>) {
  const store = new Store<Facts>();
  let tell: Subscriber = () => {};
  const namespaces = new ClusterNamespaces(
    {
      store,
      subscribe: (subscriber) => {
        tell = subscriber;
        return () => {};
      },
    },
    lookup,
  );
  const put = (name: string, own: Record<string, string>, resourceVersion = '1'): void =>
    tell(store.put({ key: name, uid: name, resourceVersion, object: { labels: own } }));
  return { namespaces, put };
}

suite('namespaces of a cluster', () => {
  test('one that is known and opted in is told at once, and nobody is asked', async (t) => {
    const api = await startFakeApi(t, () => {});
    const { namespaces, put } = over(new Lookup(api.client, namespaceByName));
    put('shop', labels);
    assert.deepEqual(namespaces.facts('shop'), { labels });
    put('off', { 'cni-gate.io/profile': '' });
    assert.deepEqual(namespaces.facts('off'), { labels: { 'cni-gate.io/profile': '' } });
    assert.equal(api.asked.length, 0);
  });

  test('one that is not known, or known without the label, is asked for: the API server calls for a reason', async (t) => {
    const api = await startFakeApi(t, (_asked, response) => json(response, 200, namespace('x', '7', labels)));
    const { namespaces, put } = over(new Lookup(api.client, namespaceByName));
    put('late', { team: 'a' });
    assert.deepEqual(await namespaces.facts('late'), { labels });
    assert.deepEqual(await namespaces.facts('new'), { labels });
    assert.deepEqual(
      api.asked.map(({ path }) => path),
      ['/api/v1/namespaces/late', '/api/v1/namespaces/new'],
    );
  });

  test('of annotations those are kept that hold a number', async (t) => {
    const annotations = { 'config.linkerd.io/proxy-uid': '2103', 'team.example/owner': 'payments' };
    const metadata = { name: 'shop', uid: 'shop', resourceVersion: '7', labels, annotations };
    const api = await startFakeApi(t, (_asked, response) => json(response, 200, { metadata }));
    const { namespaces } = over(new Lookup(api.client, namespaceByName));
    assert.deepEqual(await namespaces.facts('shop'), {
      labels,
      annotations: { 'config.linkerd.io/proxy-uid': '2103' },
    });
  });

  test('what was asked is forgotten when the watch tells of it', async (t) => {
    const api = await startFakeApi(t, ({ index }, response) =>
      json(response, 200, namespace('shop', '7', index === 0 ? {} : labels)),
    );
    const { namespaces, put } = over(new Lookup(api.client, namespaceByName, undefined, limits));
    assert.deepEqual(await namespaces.facts('shop'), { labels: {} });
    assert.deepEqual(await namespaces.facts('shop'), { labels: {} });
    assert.equal(api.asked.length, 1, 'remembered');
    put('shop', { other: 'change' });
    assert.deepEqual(await namespaces.facts('shop'), { labels });
  });
});

suite('asking for a namespace', () => {
  test('a hundred pods of one namespace ask once', async (t) => {
    const api = await startFakeApi(t, (_asked, response) => json(response, 200, namespace('a', '1', labels)));
    const results: LookupResult[] = [];
    const lookup = new Lookup(api.client, namespaceByName, (result) => results.push(result), limits);
    const answers = await Promise.all(Array.from({ length: 100 }, () => lookup.ask('a')));
    assert.deepEqual(
      new Set(answers.map((answer) => JSON.stringify(answer))),
      new Set([JSON.stringify({ labels })]),
    );
    assert.equal(api.asked.length, 1);
    assert.deepEqual(results, ['found']);
  });

  test('an answer is remembered briefly, that there is none as well', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const api = await startFakeApi(t, (_asked, response) =>
      json(response, 404, status(404, 'NotFound', 'namespaces "a" not found')),
    );
    const results: LookupResult[] = [];
    const lookup = new Lookup(api.client, namespaceByName, (result) => results.push(result), {
      ...limits,
      remember: 1000,
    });
    assert.equal(await lookup.ask('a'), undefined);
    assert.equal(await lookup.ask('a'), undefined);
    assert.equal(api.asked.length, 1);
    t.mock.timers.tick(1001);
    assert.equal(await lookup.ask('a'), undefined);
    assert.equal(api.asked.length, 2);
    assert.deepEqual(results, ['absent', 'absent']);
  });

  test('the end of one that was forgotten is not the end of the next', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const api = await startFakeApi(t, (_asked, response) => json(response, 200, namespace('a', '1', labels)));
    const lookup = new Lookup(api.client, namespaceByName, undefined, { ...limits, remember: 1000 });
    await lookup.ask('a');
    t.mock.timers.tick(600);
    lookup.forget('a');
    await lookup.ask('a');
    t.mock.timers.tick(600);
    await lookup.ask('a');
    assert.equal(api.asked.length, 2);
  });

  test('a failure is not remembered, and is told with its code', async (t) => {
    const api = await startFakeApi(t, ({ index }, response) => {
      if (index === 0) json(response, 403, status(403, 'Forbidden', 'no'));
      else json(response, 200, namespace('a', '1', labels));
    });
    const results: LookupResult[] = [];
    const lookup = new Lookup(api.client, namespaceByName, (result) => results.push(result), limits);
    await assert.rejects(lookup.ask('a'), { code: 'CNI_GATE_CLUSTER_FORBIDDEN' });
    assert.deepEqual(await lookup.ask('a'), { labels });
    assert.deepEqual(results, ['failed', 'found']);
  });

  test('a connection that leads nowhere costs a second try, over another one', async (t) => {
    const sockets = new Set<unknown>();
    const api = await startFakeApi(t, ({ index }, response) => {
      sockets.add(response.socket);
      if (index !== 1) json(response, 200, namespace('a', '1', labels));
    });
    await api.client.request('GET', '/version');
    const lookup = new Lookup(api.client, namespaceByName, undefined, { ...limits, bound: 10_000 });
    assert.deepEqual(await lookup.ask('a'), { labels });
    assert.deepEqual([api.asked.length, sockets.size], [3, 2]);
  });

  test('no answer at all is an error within the bound', async (t) => {
    const api = await startFakeApi(t, () => {});
    const lookup = new Lookup(api.client, namespaceByName, undefined, limits);
    await assert.rejects(lookup.ask('a'), { code: 'CNI_GATE_CLUSTER_UNREACHABLE' });
    assert.equal(api.asked.length, 2);
  });

  test('an answer that comes byte by byte is not waited for beyond the bound', async (t) => {
    const api = await startFakeApi(t, (_asked, response) => {
      const trickle = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(trickle));
    });
    const lookup = new Lookup(api.client, namespaceByName, undefined, limits);
    const message = 'cannot get namespaces a: no answer of the API server within 200 ms';
    await assert.rejects(lookup.ask('a'), { code: 'CNI_GATE_CLUSTER_UNREACHABLE', message });
  });

  test('only so many names are asked for at a time', async (t) => {
    const api = await startFakeApi(t, () => {});
    const lookup = new Lookup(api.client, namespaceByName, undefined, { ...limits, keys: 2 });
    const waiting = [lookup.ask('a'), lookup.ask('b')];
    await assert.rejects(lookup.ask('c'), {
      code: 'CNI_GATE_CLUSTER_BUSY',
      message: /2 answers are remembered/,
    });
    assert.equal(lookup.ask('b'), waiting[1], 'those that are being asked for are shared all the same');
    await Promise.allSettled(waiting);
  });
});
