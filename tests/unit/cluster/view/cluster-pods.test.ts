import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import type { GatePod } from '../../../../webhook/admission/gate/gate-pod.ts';
import { Store } from '../../../../webhook/cluster/informer/store.ts';
import { defaultLimits, Lookup } from '../../../../webhook/cluster/lookup.ts';
import { ClusterPods, podByName } from '../../../../webhook/cluster/view/cluster-pods.ts';
import { json, startFakeApi, status } from '../../../support/fake-api-server.ts';
import { pending } from '../../admission/gate/support.ts';

const limits = { ...defaultLimits, bound: 2000, firstTry: 2000, remember: 60_000, keys: 10 };

/** Pods over a store that the test fills, beside an API server that has a pod of some UIDs, one after another. */
async function pods(t: TestContext, ...uids: (string | undefined)[]) {
  const api = await startFakeApi(t, ({ index }, response) => {
    const uid = uids[Math.min(index, uids.length - 1)];
    const metadata = { uid, resourceVersion: '9', namespace: 'shop', name: 'web-0' };
    if (uid === undefined) json(response, 404, status(404, 'NotFound', 'pods "web-0" not found'));
    else json(response, 200, { metadata });
  });
  const store = new Store<GatePod>();
  type Subscriber = Parameters<ConstructorParameters<typeof ClusterPods>[0]['subscribe']>[0];
  let tell: Subscriber = () => {};
  const subscribe = (subscriber: Subscriber): (() => void) => {
    tell = subscriber;
    return () => {};
  };
  const known = new ClusterPods({ store, subscribe }, new Lookup(api.client, podByName, undefined, limits));
  return {
    api,
    put: (pod: GatePod) =>
      tell(store.put({ key: 'shop/web-0', uid: pod.uid, resourceVersion: '1', object: pod })),
    uid: async (uid: string) => (await known.pod('shop', 'web-0', uid))?.uid,
  };
}

suite('ClusterPods', () => {
  test('a known pod is returned at once, by its UID or without one', async (t) => {
    const { put, uid, api } = await pods(t, undefined);
    put(pending());
    assert.deepEqual([await uid('u1'), await uid('')], ['u1', 'u1']);
    assert.equal(api.asked.length, 0);
  });

  test('a pod that was recreated under its name is read from the API server, because the watch does not know it yet', async (t) => {
    const { put, uid, api } = await pods(t, 'u2');
    put(pending());
    assert.equal(await uid('u2'), 'u2');
    assert.deepEqual(
      api.asked.map(({ path }) => path),
      ['/api/v1/namespaces/shop/pods/web-0'],
    );
  });

  test('a pod with another UID is undefined', async (t) => {
    const { uid } = await pods(t, 'u2');
    assert.deepEqual([await uid('u3'), await uid('')], [undefined, 'u2']);
  });

  test('an answer is dropped when the watch reports the pod', async (t) => {
    const { put, uid, api } = await pods(t, undefined, 'u3');
    assert.deepEqual([await uid('u3'), await uid('u3')], [undefined, undefined]);
    assert.equal(api.asked.length, 1, 'remembered');
    put(pending());
    assert.equal(await uid('u3'), 'u3');
  });
});
