import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { Capacity } from '../../../../webhook/leader/nominate/capacity.ts';
import { json, startFakeApi } from '../../../support/fake-api-server.ts';
import { node } from './support.ts';

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
  const capacity = new Capacity(api.client, { nominatedFor: () => [] });
  return {
    api,
    reserve: (name: string, cpu: number) =>
      capacity.reserve(node(name, { allocatable: { cpu: 1000, pods: 110 } }), { cpu }, signal),
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
