import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { type Change, type Lister, Store } from '../../../../webhook/cluster/informer/store.ts';
import { Lookup } from '../../../../webhook/cluster/lookup.ts';
import {
  clusterNamespaces,
  namespaceByName,
  optedInBy,
} from '../../../../webhook/cluster/view/watch-namespaces.ts';
import { clusterPods, podByName } from '../../../../webhook/cluster/view/watch-nodes.ts';
import type { NamespaceFacts } from '../../../../webhook/core/facts/namespace.ts';
import { json, startFakeApi, status } from '../../../support/fake-api-server.ts';
import { namespace } from '../../../support/informing.ts';
import { pending } from '../../admission/gate/support.ts';

const labels = { 'cni-gate.io/profile': 'cilium' };

function informer<T>() {
  const store = new Store<T>();
  let tell: (changes: Change<T>[]) => void = () => {};
  const lister: Lister<T> = {
    store,
    subscribe: (subscriber) => {
      tell = subscriber;
      return () => {};
    },
  };
  let version = 0;
  const put = (key: string, object: T, uid = key): void => {
    version += 1;
    tell(store.put({ key, uid, resourceVersion: `${version}`, object }));
  };
  return { lister, put, remove: (key: string) => tell(store.remove(key, key)) };
}

/** A view of namespaces that the test fills, and an API server that returns these answers one after another. */
async function namespaces(t: TestContext, ...answers: object[]) {
  const api = await startFakeApi(t, ({ index }, response) => json(response, 200, answers[index]));
  const { lister, put } = informer<NamespaceFacts>();
  const view = clusterNamespaces(lister, new Lookup(api.client, namespaceByName));
  return { api, put, facts: (name: string) => view.facts(name) };
}

suite('namespaces of a cluster', () => {
  test('one that is known and opted in is answered at once', async (t) => {
    const { api, put, facts } = await namespaces(t);
    for (const value of ['cilium', '']) {
      put('shop', { labels: { 'cni-gate.io/profile': value } });
      assert.deepEqual(facts('shop'), { labels: { 'cni-gate.io/profile': value } });
    }
    assert.equal(api.asked.length, 0);
  });

  test('one that is not known, or known without the label, is read from the API server', async (t) => {
    const { api, put, facts } = await namespaces(t, namespace('x', '7', labels), namespace('x', '7', labels));
    put('late', { labels: { team: 'a' } });
    assert.deepEqual([await facts('late'), await facts('new')], [{ labels }, { labels }]);
    assert.deepEqual(
      api.asked.map(({ path }) => path),
      ['/api/v1/namespaces/late', '/api/v1/namespaces/new'],
    );
  });

  test('opting in and out is reported, at most once in five seconds, and other changes are not', (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    t.mock.method(performance, 'now', () => 0);
    const { lister, put, remove } = informer<NamespaceFacts>();
    let reported = 0;
    optedInBy(lister).subscribe(() => {
      reported += 1;
    });
    const after = (milliseconds: number): number => {
      t.mock.timers.tick(milliseconds);
      return reported;
    };
    put('a', { labels: {} });
    remove('a');
    assert.equal(after(10_000), 0);
    put('a', { labels });
    assert.equal(after(200), 1);
    put('a', { labels: { ...labels, team: 'x' } });
    assert.equal(after(10_000), 1);
    put('a', { labels: {} });
    put('b', { labels });
    assert.deepEqual([after(4_999), after(1)], [1, 2]);
  });
});

/** A view of pods that the test fills, and an API server that returns a pod with each of these UIDs in turn. */
async function pods(t: TestContext, ...uids: (string | undefined)[]) {
  const api = await startFakeApi(t, ({ index }, response) => {
    const uid = uids[Math.min(index, uids.length - 1)];
    const metadata = { uid, resourceVersion: '9', namespace: 'shop', name: 'web-0' };
    if (uid === undefined) json(response, 404, status(404, 'NotFound', 'pods "web-0" not found'));
    else json(response, 200, { metadata, spec: {} });
  });
  const { lister, put } = informer<ReturnType<typeof pending>>();
  const known = clusterPods(lister, new Lookup(api.client, podByName));
  return {
    api,
    put: () => put('shop/web-0', pending(), 'u1'),
    uid: async (uid: string) => (await known.pod('shop', 'web-0', uid))?.uid,
  };
}

suite('pods of a cluster', () => {
  test('a known pod is returned at once, by its UID or without one', async (t) => {
    const { put, uid, api } = await pods(t, undefined);
    put();
    assert.deepEqual([await uid('u1'), await uid('')], ['u1', 'u1']);
    assert.equal(api.asked.length, 0);
  });

  test('a pod that was recreated under its name is read from the API server', async (t) => {
    const { put, uid, api } = await pods(t, 'u2');
    put();
    assert.deepEqual([await uid('u2'), await uid('u3')], ['u2', undefined]);
    assert.equal(api.asked[0]?.path, '/api/v1/namespaces/shop/pods/web-0');
  });
});
