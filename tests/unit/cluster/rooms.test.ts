import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Rooms } from '../../../webhook/cluster/steer/rooms.ts';
import { isThere } from '../../../webhook/scheduling/amounts.ts';
import { freeOf } from '../../../webhook/steer/room.ts';
import { json, startFakeApi } from '../../support/fake-api-server.ts';

const { signal } = new AbortController();

test('a node with more than can be read of its pods is full, and the others are what they are', async (t) => {
  const api = await startFakeApi(t, ({ query }, response) => {
    const large = query.fieldSelector?.startsWith('spec.nodeName=n1,');
    const annotations = { large: 'x'.repeat(large ? 17 * 2 ** 20 : 10) };
    const metadata = { uid: 'u1', resourceVersion: '1', namespace: 'a', name: 'a', annotations };
    json(response, 200, { items: [{ metadata, spec: { containers: [] } }] });
  });
  const rooms = new Rooms(api.client);
  assert.equal(await rooms.ask(['n1', 'n2'], 0, signal), true);
  const takesOne = (node: string): boolean => {
    const room = rooms.get(node, 1);
    assert.ok(room);
    return isThere({ pods: 1 }, freeOf({ pods: 110 }, room));
  };
  assert.deepEqual(['n1', 'n2'].map(takesOne), [false, true]);
});
