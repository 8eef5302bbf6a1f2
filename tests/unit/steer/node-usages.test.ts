import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { subtract } from '../../../webhook/scheduling/amounts.ts';
import { NodeUsages } from '../../../webhook/steer/node-usages.ts';
import { json, startFakeApi } from '../../support/fake-api-server.ts';

const { signal } = new AbortController();

const pod = (uid: string, more: { cpu?: string; annotations?: object } = {}) => ({
  metadata: { uid, resourceVersion: '1', namespace: 'a', name: uid, ...more },
  spec: { containers: [{ resources: { requests: { cpu: more.cpu ?? '100m' } } }] },
});

/** The usage of a node, and what is free of its 110 places and ten CPUs. */
async function freeWith(t: TestContext, items: object[]) {
  const api = await startFakeApi(t, (_, response) => json(response, 200, { metadata: {}, items }));
  const usages = new NodeUsages(api.client);
  assert.equal(await usages.ask(['n1'], 0, signal), true);
  const usage = usages.get('n1', 1);
  assert.ok(usage);
  return { usage, free: subtract({ pods: 110, cpu: 10_000 }, usage.amounts), api };
}

test('large pods on a node are counted as small ones, and only their amounts are kept', async (t) => {
  const annotations = { large: 'x'.repeat(1_300_000) };
  const large = Array.from({ length: 14 }, (_, index) => pod(`large-${index}`, { annotations }));
  const { free, usage } = await freeWith(t, [...large, pod('small')]);
  assert.deepEqual(free, { pods: 95, cpu: 8500 });
  assert.ok(JSON.stringify([...usage.pods, ...usage.groups]).length < 3000);
});

test('a pod that is too large to be read counts as one pod without requests', async (t) => {
  const huge = pod('huge', { annotations: { large: 'x'.repeat(4 * 2 ** 20) } });
  const { free } = await freeWith(t, [huge, pod('small')]);
  assert.deepEqual(free, { pods: 108, cpu: 9900 });
});

test('a large answer uses up requests about other nodes', async (t) => {
  const annotations = { large: 'x'.repeat(1_300_000) };
  const large = Array.from({ length: 20 }, (_, index) => pod(`large-${index}`, { annotations }));
  const api = await startFakeApi(t, ({ query }, response) => {
    const items = query.fieldSelector?.startsWith('spec.nodeName=large,') ? large : [];
    json(response, 200, { metadata: {}, items });
  });
  const usages = new NodeUsages(api.client);
  const small = Array.from({ length: 15 }, (_, index) => `n${index}`);
  await usages.ask([...small, 'large'], 0, signal);
  assert.equal(
    await usages.ask(['n20', 'n21'], 0, signal),
    false,
    'of 20 at once, 16 and 6 for 25 MB are taken',
  );
  assert.equal(api.asked.length, 16);
  await usages.ask(['n20'], 1000, signal);
  assert.equal(api.asked.length, 17, 'they come back');
});
