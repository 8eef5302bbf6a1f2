import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Election } from '../../../webhook/kubernetes/lease/election.ts';
import type { Lease } from '../../../webhook/kubernetes/lease/move.ts';
import { json, startFakeApi } from '../../support/fake-api-server.ts';

const times = { duration: 15_000, deadline: 10_000, retry: 10 };
const log = { info: () => {}, warn: () => {}, error: () => {} };

/** An election over one Lease that is free at first. */
async function elected(t: TestContext, annotations: Record<string, string>, note: () => string | undefined) {
  let lease: Lease = { metadata: { resourceVersion: '1', annotations }, spec: { holderIdentity: '' } };
  const seen: (string | undefined)[] = [];
  const api = await startFakeApi(t, ({ method, body }, response) => {
    if (method === 'PUT') {
      const { metadata, spec } = JSON.parse(body) as Lease;
      seen.push(metadata.annotations?.note);
      lease = { metadata: { ...metadata, resourceVersion: `${seen.length + 1}` }, spec: spec ?? null };
    }
    json(response, 200, lease);
  });
  const election = new Election(api.client, { namespace: 'ns', name: 'l', identity: 'a', log, times });
  election.keep('note', note);
  const stop = new AbortController();
  const over = election.run(stop.signal);
  const written = async (count: number): Promise<void> => {
    while (seen.length < count) await sleep(5);
  };
  const end = async (): Promise<void> => {
    stop.abort();
    await over;
  };
  t.after(end);
  return { election, seen, written, end, lease: () => lease };
}

suite('a note in the Lease', () => {
  test('is read by the one that takes the Lease, before it writes its own with each renewal', async (t) => {
    let count = 0;
    const { election, seen, written, lease } = await elected(
      t,
      { note: 'of another', other: 'stays' },
      () => {
        count += 1;
        return count === 1 ? election.kept('note') : `mine ${count}`;
      },
    );
    await written(3);
    assert.deepEqual(seen.slice(0, 3), ['of another', 'of another', 'mine 2']);
    assert.equal(lease().metadata.annotations?.other, 'stays');
  });

  test('stays as it is while there is nothing to write', async (t) => {
    const { seen, written } = await elected(t, { note: 'of another' }, () => undefined);
    await written(3);
    assert.deepEqual(new Set(seen), new Set(['of another']));
  });

  test('is written once more when the Lease is released', async (t) => {
    let last = 'early';
    const { written, end, lease } = await elected(t, {}, () => last);
    await written(2);
    last = 'at the end';
    await end();
    assert.deepEqual([lease().metadata.annotations?.note, lease().spec?.holderIdentity], ['at the end', '']);
  });
});
