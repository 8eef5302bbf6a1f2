import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { noEvidence } from '../../../webhook/evidence/evidence.ts';
import { gate } from '../../../webhook/gate/gate.ts';
import type { GatePod } from '../../../webhook/gate/gate-pod.ts';
import { Lookup, type LookupLimits, type LookupResult } from '../../../webhook/kubernetes/lookup.ts';
import { Store } from '../../../webhook/kubernetes/reflector/store.ts';
import { ClusterPods, podByName, podLimits } from '../../../webhook/view/cluster-pods.ts';
import { policyOf } from '../../support/configurations.ts';
import { withEscapedKeys } from '../../support/costly-json.ts';
import { json, startFakeApi, status } from '../../support/fake-api-server.ts';
import { binding, clusterWith } from '../gate/support.ts';
import { now } from '../readiness/objects.ts';

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

suite('questions to the API server about single objects', () => {
  test('names that somebody makes up cost a burst of questions, and the rest is told as too many', async (t) => {
    const { api, lookup: pods, count } = await lookup(t, { perSecond: 1, burst: 5 });
    const settled = await Promise.allSettled(names(300).map((name) => pods.ask(name)));
    assert.ok(api.asked.length >= 5 && api.asked.length <= 10, `${api.asked.length} questions`);
    assert.equal(count('limited'), 300 - api.asked.length);
    assert.deepEqual([...new Set(codesOf(settled))], ['CNI_GATE_CLUSTER_BUSY']);
    await assert.rejects(pods.ask('shop/one-more'), {
      message: /^cannot get pods one-more in namespace shop: too many/,
    });
  });

  test('only so many are open at a time, and an answer makes room', async (t) => {
    const { api, lookup: pods, count } = await lookup(t, { atATime: 10, bound: 300, firstTry: 300 }, true);
    const first = Promise.allSettled(names(50).map((name) => pods.ask(name)));
    assert.equal(count('limited'), 40);
    await first;
    assert.equal(api.asked.length, 10);
    await Promise.allSettled([pods.ask('shop/later')]);
    assert.equal(api.asked.length, 11);
  });

  test('while one address makes up names, calls of another are looked up', async (t) => {
    const { lookup: pods } = await lookup(t);
    const flood = Promise.allSettled(names(1000).map((name) => pods.ask(name, '10.0.0.66')));
    for (let index = 0; index < 20; index++) {
      assert.equal(await pods.ask(`shop/web-${index}`, '10.0.0.1'), undefined);
    }
    assert.ok(codesOf(await flood).length > 700);
  });

  test('while many addresses make up names, each has its share', async (t) => {
    const { api, lookup: pods } = await lookup(t, { perSecond: 1, burst: 100, atATime: 100 });
    const flood = Promise.allSettled(
      names(1000).map((name, index) => pods.ask(name, `10.0.0.${index % 20}`)),
    );
    assert.equal(await pods.ask('shop/web-0', '10.0.1.1'), undefined);
    const refused = codesOf(await flood).length;
    assert.ok(refused >= 900, `${refused} were not asked`);
    assert.ok(api.asked.length <= 102, `${api.asked.length} questions`);
  });

  test('answers that do not come use up the share of who asked, not of others', async (t) => {
    const limits = { atATime: 10, bound: 500, firstTry: 500 };
    const { api, lookup: pods } = await lookup(t, limits, true);
    const flood = Promise.allSettled(names(50).map((name) => pods.ask(name, '10.0.0.66')));
    const other = Promise.allSettled([pods.ask('shop/web-0', '10.0.0.1')]);
    await flood;
    assert.deepEqual(codesOf(await other), ['CNI_GATE_CLUSTER_UNREACHABLE']);
    assert.equal(api.asked.length, 9);
  });

  test('that there is no such object is remembered for a while', async (t) => {
    const { api, lookup: pods } = await lookup(t);
    for (let round = 0; round < 100; round += 1) assert.equal(await pods.ask('shop/web-0'), undefined);
    assert.equal(api.asked.length, 1);
  });

  test('a burst as a scheduler can make it is not bitten', async (t) => {
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
    const { lookup: pods } = await lookup(t, { perSecond: 1, burst: 0 });
    const store = new Store<GatePod>();
    const profiles = [{ name: 'mesh', daemonSets: [{ namespace: 'net', name: 'agent' }] }];
    const { decision } = await gate(
      binding(),
      {
        readiness: clusterWith({ n1: { ready: false } }),
        pods: new ClusterPods({ store, subscribe: () => () => {} }, pods),
        unsynced: () => undefined,
        notSynced: () => false,
        notObservedSince: () => false,
        evidence: noEvidence,
      },
      policyOf({ profiles }),
      now,
    );
    assert.deepEqual([decision.outcome, decision.reason], ['unknown', 'pod-unknown']);
    assert.match(
      decision.warnings[0] ?? '',
      /^allowed without a check: cannot get pods web-0 .*too many questions/,
    );
  });
});
