import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { PendingPod } from '../../../../webhook/core/facts/pending-pod.ts';
import type { NetworkStatus } from '../../../../webhook/core/networks/network-status.ts';
import { capacity } from '../../../../webhook/leader/steering/capacity.ts';
import { Nominations } from '../../../../webhook/leader/steering/nominations.ts';
import { nodeSearch } from '../../../../webhook/leader/steering/search.ts';
import { planLimits } from '../../../../webhook/lib/limits.ts';
import { TokenBucket } from '../../../../webhook/lib/token-bucket.ts';
import { json, startFakeApi } from '../../../support/fake-api-server.ts';
import { node, now, waiting } from './support.ts';

suite('the comparison with 10,000 nodes', () => {
  const all = Array.from({ length: 10_000 }, (_, index) => node(`n${index}`));
  const answer: NetworkStatus = { kind: 'ready' };

  test('yields to the event loop in between, and ends when it is aborted', async (t) => {
    const { client } = await startFakeApi(t, (_, response) => json(response, 200, { items: [] }));
    const pods = { nominatedFor: () => [] };
    let compared = 0;
    const gate = (): NetworkStatus => {
      compared += 1;
      return answer;
    };
    const bucket = new TokenBucket(1, 1);
    bucket.left(0);
    const place = (signal: AbortSignal) =>
      nodeSearch({
        readiness: { nodes: () => all, node: () => undefined },
        gate,
        pods,
        reserve: capacity(client, pods),
        bucket,
      })(waiting('web'), signal);
    const over = place(new AbortController().signal);
    for (let before = 0; before < all.length; await nextTurn()) {
      assert.ok(compared - before <= 2 * planLimits.slice, `${compared - before} in one turn`);
      before = compared;
    }
    assert.equal(bucket.left(0), 1 - all.length, 'each comparison takes a token');
    assert.ok(Object.hasOwn(Object(await over), 'node'));
    const stop = new AbortController();
    const aborted = place(stop.signal);
    stop.abort(new Error('over'));
    await assert.rejects(aborted, { message: 'over' });
  });
});

const { signal } = new AbortController();

interface Scene {
  nodes: string[];
  /** Whether the nodes are unproved, so that only one pod at a time may try each. */
  isTry?: boolean;
  nominated?: string;
  reserve?: () => Promise<boolean>;
}

const searchOn = ({ nodes, isTry = false, nominated, reserve = async () => true }: Scene) =>
  nodeSearch({
    readiness: { nodes: () => nodes.map((name) => node(name)), node: () => undefined },
    gate: (_, name) => {
      const about = {
        node: name,
        profile: 'mesh',
        daemonSet: undefined,
        state: 'unproved',
        reason: '',
      } as const;
      return isTry ? { kind: 'try', ...about } : { kind: 'ready' };
    },
    pods: { nominatedFor: (name) => (name === nominated ? [waiting('other')] : []) },
    reserve,
    bucket: new TokenBucket(1, 1),
  });

test('a node that is full for one pod is not asked about the next pod', async () => {
  let asked = 0;
  const place = searchOn({
    nodes: ['n2'],
    reserve: async () => {
      asked += 1;
      return false;
    },
  });
  for (const name of ['a', 'b']) assert.ok(Object.hasOwn(Object(await place(waiting(name), signal)), 'why'));
  assert.equal(asked, 1);
});

test('a node that one pod at a time may try gets one pod, and not one that it refused', async () => {
  const place = searchOn({ nodes: ['n1', 'n2', 'n3'], isTry: true, nominated: 'n3' });
  assert.deepEqual(await place(waiting('a'), signal), { node: 'n2' });
  assert.ok(Object.hasOwn(Object(await place(waiting('b'), signal)), 'why'));
});

test('the pods of one search are spread over the nodes, and the next search begins at another node', async (t) => {
  t.mock.timers.enable({ apis: ['Date'], now: 0 });
  const place = searchOn({ nodes: ['n2', 'n3', 'n4'] });
  const nodes: unknown[] = [];
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) nodes.push(await place(waiting(name), signal));
  const expected = ['n2', 'n3', 'n4'].map((name) => [{ node: name }, 2]);
  const counts = Map.groupBy(nodes, (found) => JSON.stringify(found));
  assert.deepEqual([...counts].map(([text, some]) => [JSON.parse(text), some.length]).toSorted(), expected);
  assert.deepEqual(nodes[0], { node: 'n2' });
  t.mock.timers.setTime(1);
  assert.deepEqual(await searchOn({ nodes: ['n2', 'n3'] })(waiting('g'), signal), { node: 'n3' });
});

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

test('of two simultaneous requests, one gets the node', async (t) => {
  const { reserve } = await capacityWith(t, () => []);
  assert.deepEqual(await Promise.all([reserve('n1', 600), reserve('n1', 600)]), [true, false]);
});

test('a pod that is too large to be read counts as a pod without requests', async (t) => {
  const huge = pod('huge', { large: 'x'.repeat(4 * 2 ** 20) });
  const { reserve } = await capacityWith(t, () => [huge, pod('small')]);
  assert.equal(await reserve('n1', 901), false);
  assert.equal(await reserve('n1', 900), true);
});

const web = waiting('web');
const nominated = { ...web, nominated: 'n2', version: '11' };

suite('a nomination ends', () => {
  const cases: [what: string, pods: PendingPod[], after: number, outcome: string | undefined][] = [
    ['not while the watch has not reported it', [web], 5000, undefined],
    ['not while it is unchanged', [nominated], 5000, undefined],
    ['when the pod no longer waits', [], 5000, 'left'],
    ['when the pod is being deleted', [{ ...web, leaving: true }], 5000, 'left'],
    ['when the scheduler clears it', [{ ...web, version: '12' }], 5000, 'ignored'],
    ['when another one is written', [{ ...nominated, nominated: 'n3' }], 5000, 'ignored'],
    ['when nothing happens for a minute', [nominated], 60_001, 'ignored'],
  ];
  for (const [what, pods, after, outcome] of cases) {
    test(`${what}: ${outcome ?? 'open'}`, () => {
      const nominations = new Nominations();
      nominations.add(web, 'n2', now);
      const { ended, backOff } = nominations.settle(web.key, pods, now + after);
      assert.deepEqual([ended[0]?.outcome, backOff], [outcome, outcome === 'ignored']);
      assert.equal(nominations.isOpen(web), outcome === undefined);
      assert.deepEqual(nominations.settle(web.key, pods, now + after).ended, [], 'it is reported once');
    });
  }
});

test('of pods that only the scheduler can judge, one is nominated at first, and one more for each success', () => {
  const nominations = new Nominations();
  const pods = ['a', 'b', 'c', 'd'].map((name) => waiting(name));
  const [a, b, c, d] = pods as [PendingPod, PendingPod, PendingPod, PendingPod];
  const windows = [nominations.window(web.key)];
  const settle = (some: PendingPod[], left: PendingPod[]): boolean => {
    for (const pod of some) nominations.add(pod, 'n2', now);
    windows.push(nominations.window(web.key));
    const { backOff } = nominations.settle(web.key, left, now);
    windows.push(nominations.window(web.key));
    return backOff;
  };
  settle([a], [b, c, d]);
  settle([b, c], [d]);
  assert.equal(settle([d], [{ ...d, version: '12' }]), false, 'others worked before');
  assert.equal(settle([d], [{ ...d, version: '14' }]), true);
  assert.deepEqual(windows, [1, 0, 2, 0, 4, 3, 1, 0, 1]);
});
