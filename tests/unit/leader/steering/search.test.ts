import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NetworkStatus } from '../../../../webhook/core/networks/network-status.ts';
import { capacity } from '../../../../webhook/leader/steering/capacity.ts';
import { nodeSearch } from '../../../../webhook/leader/steering/search.ts';
import { planLimits } from '../../../../webhook/lib/limits.ts';
import { TokenBucket } from '../../../../webhook/lib/token-bucket.ts';
import { json, startFakeApi } from '../../../support/fake-api-server.ts';
import { node, waiting } from './support.ts';

suite('the comparison with 10,000 nodes', () => {
  const all = Array.from({ length: 10_000 }, (_, index) => node(`n${index}`));
  const answer: NetworkStatus = { kind: 'ready' };

  test('leaves the event loop to others in between, and ends when it is aborted', async (t) => {
    const { client } = await startFakeApi(t, (_, response) => json(response, 200, { items: [] }));
    const pods = { nominatedFor: () => [] };
    let compared = 0;
    const gate = (): NetworkStatus => {
      compared += 1;
      return answer;
    };
    const place = (signal: AbortSignal) =>
      nodeSearch({
        readiness: { nodes: () => all, node: () => undefined },
        gate,
        pods,
        reserve: capacity(client, pods),
        bucket: new TokenBucket(1, 1),
      })(waiting('web'), signal);
    const over = place(new AbortController().signal);
    for (let before = 0; compared < all.length; before = compared) {
      await nextTurn();
      assert.ok(compared - before <= 2 * planLimits.slice, `${compared - before} in one turn`);
    }
    assert.ok(Object.hasOwn(Object(await over), 'node'));
    const stop = new AbortController();
    const aborted = place(stop.signal);
    stop.abort(new Error('over'));
    await assert.rejects(aborted, { message: 'over' });
  });
});

const { signal } = new AbortController();

const pod = (uid: string, annotations: object = {}) => ({
  metadata: { uid, resourceVersion: '1', namespace: 'a', name: uid, annotations },
  spec: { containers: [{ resources: { requests: { cpu: '100m' } } }] },
});

async function capacityWith(t: TestContext, itemsOf: (node: string) => object[]) {
  const api = await startFakeApi(t, ({ query }, response) => {
    const [, name = ''] = /^spec\.nodeName=([^,]+),/.exec(query.fieldSelector ?? '') ?? [];
    json(response, 200, { metadata: {}, items: itemsOf(name) });
  });
  const on = capacity(api.client, { nominatedFor: () => [] });
  return {
    api,
    reserve: (name: string, cpu: number) =>
      on(node(name, { allocatable: { cpu: 1000, pods: 110 } }), { cpu }, signal),
  };
}

test('two that ask at a time get the node once', async (t) => {
  const { reserve } = await capacityWith(t, () => []);
  assert.deepEqual(await Promise.all([reserve('n1', 600), reserve('n1', 600)]), [true, false]);
});

test('a pod that is too large to be read counts as one pod without requests', async (t) => {
  const huge = pod('huge', { large: 'x'.repeat(4 * 2 ** 20) });
  const { reserve } = await capacityWith(t, () => [huge, pod('small')]);
  assert.equal(await reserve('n1', 901), false);
  assert.equal(await reserve('n1', 900), true);
});
