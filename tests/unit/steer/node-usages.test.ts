import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { freeOf } from '../../../webhook/steer/node-usage.ts';
import { NodeUsages } from '../../../webhook/steer/node-usages.ts';
import { json, startFakeApi } from '../../support/fake-api-server.ts';

const { signal } = new AbortController();

const pod = (uid: string, more: { cpu?: string; labels?: object; annotations?: object } = {}) => ({
  metadata: { uid, resourceVersion: '1', namespace: 'a', name: uid, ...more },
  spec: { containers: [{ resources: { requests: { cpu: more.cpu ?? '100m' } } }] },
});

/** What a room says of a node that has 110 places and ten CPUs. */
async function freeWith(t: TestContext, items: object[]) {
  const api = await startFakeApi(t, (_, response) => json(response, 200, { metadata: {}, items }));
  const usages = new NodeUsages(api.client);
  assert.equal(await usages.ask(['n1'], 0, signal), true);
  const usage = usages.get('n1', 1);
  assert.ok(usage);
  return { usage, free: freeOf({ pods: 110, cpu: 10_000 }, usage), api };
}

test('large pods on a node are counted as small ones are, and nothing of them is kept but amounts', async (t) => {
  const annotations = { large: 'x'.repeat(1_300_000) };
  const large = Array.from({ length: 14 }, (_, index) => pod(`large-${index}`, { annotations }));
  const { free, usage } = await freeWith(t, [...large, pod('small')]);
  assert.deepEqual(free, { pods: 95, cpu: 8500 });
  assert.ok(JSON.stringify([...usage.pods, ...usage.groups]).length < 3000);
});

test('a pod that is too large to be read takes one place, and the others are what they are', async (t) => {
  const huge = pod('huge', { annotations: { large: 'x'.repeat(4 * 2 ** 20) } });
  const { free } = await freeWith(t, [huge, pod('small')]);
  assert.deepEqual(free, { pods: 108, cpu: 9900 });
});

test('of the labels of a pod no more is kept than a selector could need', async (t) => {
  const labels = Object.fromEntries(
    Array.from({ length: 1000 }, (_, index) => [`label-${index}`, 'x'.repeat(63)]),
  );
  const { usage } = await freeWith(t, [pod('many', { labels }), pod('few', { labels: { app: 'web' } })]);
  assert.deepEqual([usage.pods.get('many')?.labels, usage.pods.get('few')?.labels], [{}, { app: 'web' }]);
});

test('a node whose pods are large costs questions about others', async (t) => {
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
