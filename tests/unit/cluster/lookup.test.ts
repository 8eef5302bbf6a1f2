import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { pathBelow } from '../../../webhook/cluster/api-path.ts';
import {
  defaultLimits,
  type LookupLimits,
  type LookupResult,
  lookup as lookupOf,
} from '../../../webhook/cluster/lookup.ts';
import { json, startFakeApi, status } from '../../support/fake-api-server.ts';
import { namespace } from '../../support/informing.ts';

type Answer = Parameters<typeof startFakeApi>[1];

const labels = { 'cni-gate.io/profile': 'cilium' };
const found: Answer = (_asked, response) => json(response, 200, namespace('a', '1', labels));
const absent: Answer = (_asked, response) => json(response, 404, status(404, 'NotFound', 'not found'));
const silent: Answer = () => {};

async function lookup(t: TestContext, answer: Answer, limits: Partial<LookupLimits> = {}) {
  const api = await startFakeApi(t, answer);
  const results: LookupResult[] = [];
  const asked = {
    client: api.client,
    path: (name: string) => pathBelow('/api/v1/namespaces', name),
    pick: ({ metadata }: { metadata: { labels?: object } }) => ({ labels: metadata.labels }),
  };
  const ask = lookupOf(asked, (result) => results.push(result), {
    ...defaultLimits,
    bound: 2000,
    ...limits,
  });
  const count = (result: LookupResult): number => results.filter((one) => one === result).length;
  return { api, results, count, ask };
}

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `made-up-${index}`);

const codesOf = (settled: PromiseSettledResult<unknown>[]): unknown[] =>
  settled.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));

suite('requests to the API server for single objects', () => {
  test('a hundred pods of one namespace cause one request', async (t) => {
    const { api, ask, results } = await lookup(t, found);
    const answers = await Promise.all(Array.from({ length: 100 }, () => ask('a')));
    for (const answer of answers) assert.deepEqual(answer, { labels });
    assert.deepEqual([api.asked.length, results], [1, ['found']]);
  });

  test('an answer is remembered briefly, even if the object does not exist', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const { api, ask, results } = await lookup(t, absent);
    for (let round = 0; round < 3; round += 1) assert.equal(await ask('a'), undefined);
    assert.equal(api.asked.length, 1);
    t.mock.timers.tick(1001);
    assert.equal(await ask('a'), undefined);
    assert.deepEqual([api.asked.length, results], [2, ['absent', 'absent']]);
  });

  test('a failure is not remembered, and has its code', async (t) => {
    const { ask, results } = await lookup(t, (asked, response) => {
      if (asked.index === 0) json(response, 403, status(403, 'Forbidden', 'no'));
      else found(asked, response);
    });
    await assert.rejects(ask('a'), { code: 'CNI_GATE_CLUSTER_FORBIDDEN' });
    assert.deepEqual(await ask('a'), { labels });
    assert.deepEqual(results, ['failed', 'found']);
  });

  test('invented names cause at most a burst of requests; the others are refused', async (t) => {
    const { api, ask, count } = await lookup(t, absent, { perSecond: 0.001, burst: 5 });
    const settled = await Promise.allSettled(names(300).map(ask));
    assert.deepEqual([api.asked.length, count('limited')], [5, 295]);
    assert.deepEqual([...new Set(codesOf(settled))], ['CNI_GATE_CLUSTER_BUSY']);
    await assert.rejects(ask('one-more'), { message: /^cannot get namespaces one-more: too many/ });
  });

  test('a burst like those of the scheduler is answered, with a limited number in flight', async (t) => {
    let [inFlight, most] = [0, 0];
    const { api, ask, count } = await lookup(t, (asked, response) => {
      inFlight += 1;
      most = Math.max(most, inFlight);
      setTimeout(() => {
        inFlight -= 1;
        absent(asked, response);
      }, 20);
    });
    const settled = await Promise.allSettled(names(100).map(ask));
    assert.deepEqual([codesOf(settled), count('limited'), api.asked.length], [[], 0, 100]);
    assert.ok(most <= defaultLimits.inFlight, `${most} at a time`);
  });

  test('a request that cannot be sent within the time limit is refused', async (t) => {
    const { ask, count } = await lookup(t, silent, { inFlight: 1, bound: 300 });
    const settled = await Promise.allSettled(names(5).map(ask));
    assert.ok(count('limited') >= 3, 'some are refused');
    assert.equal(codesOf(settled).length, 5);
  });

  test('no answer, or one that arrives byte by byte, is an error within the time limit', async (t) => {
    const sockets = new Set<unknown>();
    const { api, ask } = await lookup(
      t,
      ({ path }, response) => {
        sockets.add(response.socket);
        if (path.includes('/found')) json(response, 200, namespace('a', '1', labels));
        if (!path.endsWith('/slow')) return;
        const trickle = setInterval(() => response.write(' '), 10);
        response.on('close', () => clearInterval(trickle));
      },
      { bound: 200 },
    );
    await Promise.all(['found-1', 'found-2'].map(ask));
    const code = 'CNI_GATE_CLUSTER_UNREACHABLE';
    await assert.rejects(ask('a'), { code });
    const message = 'cannot get namespaces slow: no answer from the API server within 200 ms';
    await assert.rejects(ask('slow'), { code, message });
    assert.deepEqual(await ask('found'), { labels });
    assert.deepEqual([api.asked.length, sockets.size], [5, 4], 'an earlier connection is not reused');
  });
});
