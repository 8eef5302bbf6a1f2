import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { gate } from '../../../webhook/admission/gate/gate.ts';
import type { GatePod } from '../../../webhook/admission/gate/gate-pod.ts';
import { Store } from '../../../webhook/cluster/informer/store.ts';
import { Lookup, type LookupLimits, type LookupResult } from '../../../webhook/cluster/lookup.ts';
import { ClusterPods, podByName, podLimits } from '../../../webhook/cluster/view/cluster-pods.ts';
import { noEvidence } from '../../../webhook/nodes/evidence/evidence.ts';
import { policyOf } from '../../support/configurations.ts';
import { withEscapedKeys } from '../../support/costly-json.ts';
import { json, startFakeApi, status } from '../../support/fake-api-server.ts';
import { binding, clusterWith } from '../admission/gate/support.ts';
import { now } from '../nodes/readiness/objects.ts';

const names = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `shop/made-up-${index}`);

/** A lookup of pods at an API server that has none; with `silent`, one that does not answer either. */
async function lookup(t: TestContext, limits: Partial<LookupLimits> = {}, silent = false) {
  const api = await startFakeApi(t, (_asked, response) => {
    if (!silent) json(response, 404, status(404, 'NotFound', 'pods not found'));
  });
  const results: LookupResult[] = [];
  const tell = (result: LookupResult): void => void results.push(result);
  const made = new Lookup(api.client, podByName, tell, { ...podLimits, ...limits });
  const count = (result: LookupResult): number => results.filter((one) => one === result).length;
  return { api, lookup: made, count };
}

const codesOf = (settled: PromiseSettledResult<unknown>[]): unknown[] =>
  settled.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));

suite('requests to the API server for single objects', () => {
  test('made-up names cause a burst of requests at most; the others are refused', async (t) => {
    const { api, lookup: pods, count } = await lookup(t, { perSecond: 0.001, burst: 5 });
    const settled = await Promise.allSettled(names(300).map((name) => pods.ask(name)));
    assert.deepEqual([api.asked.length, count('limited')], [5, 295]);
    assert.deepEqual([...new Set(codesOf(settled))], ['CNI_GATE_CLUSTER_BUSY']);
    await assert.rejects(pods.ask('shop/one-more'), {
      message: /^cannot get pods one-more in namespace shop: too many/,
    });
  });

  test('only so many are in flight, and the others wait', async (t) => {
    let [inFlight, most] = [0, 0];
    const api = await startFakeApi(t, (_asked, response) => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      setTimeout(() => {
        inFlight -= 1;
        json(response, 404, status(404, 'NotFound', 'pods not found'));
      }, 20);
    });
    const pods = new Lookup(api.client, podByName, () => {}, { ...podLimits, inFlight: 5 });
    await Promise.all(names(50).map((name) => pods.ask(name)));
    assert.equal(api.asked.length, 50);
    assert.ok(most <= 5, `${most} at a time`);
  });

  test('a request that does not come in flight within its bound is refused', async (t) => {
    const { lookup: pods, count } = await lookup(t, { inFlight: 1, bound: 300, firstTry: 250 }, true);
    const settled = await Promise.allSettled(names(5).map((name) => pods.ask(name)));
    assert.ok(count('limited') >= 3, 'some are refused');
    assert.equal(codesOf(settled).length, 5);
  });

  test('that there is no such object is remembered for a while', async (t) => {
    const { api, lookup: pods } = await lookup(t);
    for (let round = 0; round < 100; round += 1) assert.equal(await pods.ask('shop/web-0'), undefined);
    assert.equal(api.asked.length, 1);
  });

  test('a burst as the scheduler sends it is answered', async (t) => {
    const { api, lookup: pods, count } = await lookup(t);
    const settled = await Promise.allSettled(names(100).map((name) => pods.ask(name)));
    assert.deepEqual([codesOf(settled), count('limited'), api.asked.length], [[], 0, 100]);
  });

  test('a pod that takes long to parse is not read, and not asked for again', async (t) => {
    const api = await startFakeApi(t, (_asked, response) => {
      json(response, 200, { metadata: { name: 'web-0' }, spec: JSON.parse(withEscapedKeys(400)) });
    });
    const pods = new Lookup(api.client, podByName, () => {}, podLimits);
    await assert.rejects(pods.ask('shop/web-0'), {
      message: /an answer of more than 16384 shapes of objects/,
    });
    assert.equal(api.asked.length, 1);
  });

  test('beyond the limit the gate answers as for a pod that it does not know', async (t) => {
    const { lookup: pods } = await lookup(t, { perSecond: 0.001, burst: 0 });
    const store = new Store<GatePod>();
    const profiles = [{ name: 'mesh', daemonSets: [{ namespace: 'net', name: 'agent' }] }];
    const { decision } = await gate(
      binding(),
      {
        readiness: clusterWith({ n1: { ready: false } }),
        pods: new ClusterPods({ store, subscribe: () => () => {} }, pods),
        unsynced: () => undefined,
        notSynced: () => false,
        evidence: noEvidence,
      },
      policyOf({ profiles }),
      now,
    );
    assert.deepEqual([decision.outcome, decision.reason], ['unknown', 'pod-unknown']);
    assert.match(
      decision.warnings[0] ?? '',
      /^allowed without a check: cannot get pods web-0 .*too many requests/,
    );
  });
});
