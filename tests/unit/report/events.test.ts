import assert from 'node:assert/strict';
import { suite, type TestContext, test } from 'node:test';
import { type PodEvent, podEvents } from '../../../webhook/report/observe/events.ts';
import type { PodFacts } from '../../../webhook/report/observe/pods.ts';
import { policyOf } from '../../support/configurations.ts';
import { json, startFakeApi } from '../../support/fake-api-server.ts';
import { evidenceOf, holdOf } from './objects.ts';

const pod = { namespace: 'shop', name: 'web' };
const waiting: PodFacts = {
  ...pod,
  proof: 'waiting',
  evidence: evidenceOf('web', { verdict: 'waiting', at: Date.now() - 120_000, hasSandbox: false }),
};
const failed: PodFacts = { ...pod, proof: 'failed', evidence: evidenceOf('web', { verdict: 'failed' }) };
const unready = { run: 1, at: 0, shownBy: '1', patience: 10_000 };
const lost: PodFacts = { ...pod, proof: 'passed', evidence: evidenceOf('web', { unready }) };
const held: PodFacts = {
  ...pod,
  proof: 'waiting',
  held: holdOf('web', { refused: 'n1', why: '', since: undefined, nominated: '' }),
};

/** An event of the leader about the pod. */
const event = (reason: string, minute: number, note: string, more: object = {}) => ({
  action: 'Leave',
  eventTime: `2026-11-21T11:${minute}:00.000000Z`,
  reason,
  regarding: { uid: 'web-uid' },
  reportingController: 'cni-gate.io/leader',
  note,
  ...more,
});

/** The last event of the pod, and the field selectors by which events were requested. */
async function lastOf(
  t: TestContext,
  facts: PodFacts,
  items: object[],
  settings: object = {},
  others: PodFacts[] = [],
): Promise<{ last: PodEvent | undefined; asked: string[] }> {
  const { client, asked } = await startFakeApi(t, ({ query }, response) =>
    json(response, 200, {
      items: items.filter((one) => query.fieldSelector === `reason=${(one as { reason: string }).reason}`),
    }),
  );
  const found = await podEvents(client, policyOf(settings), [facts, ...others]);
  assert.ok(found.size <= 1);
  return { last: found.get('web-uid'), asked: asked.map(({ query }) => query.fieldSelector ?? '') };
}

suite('the last event', () => {
  test('of the kubelet about a pod that waits for its sandbox', async (t) => {
    const old = (minute: number, note: string, uid = 'web-uid') => ({
      reason: 'FailedMount',
      note,
      deprecatedLastTimestamp: `2026-11-21T11:${minute}:00Z`,
      regarding: { uid },
    });
    const items = [old(10, 'first'), old(20, 'last\u001b[2J'), old(30, 'of another pod', 'other-uid')];
    const { last } = await lastOf(t, waiting, items);
    assert.ok(last?.note.startsWith('last') && !last.note.includes('\u001b'), last?.note);
  });

  test('of the leader about a failed or lost pod, but not those of others', async (t) => {
    const items = [
      event('NotRecreated', 10, 'its node is not ready'),
      event('NotRecreated', 11, 'it has stopped', { action: 'Stop' }),
      event('NotRecreated', 12, 'forged', { reportingController: 'another' }),
    ];
    for (const facts of [failed, lost]) {
      const { last, asked } = await lastOf(t, facts, items);
      assert.deepEqual([last?.note, last?.stopped], ['it has stopped', true]);
      assert.deepEqual(asked, ['reason=Recreated', 'reason=WouldRecreate', 'reason=NotRecreated']);
    }
  });

  test('of the leader about a failed pod, although another pod of the namespace waits for its sandbox', async (t) => {
    const items = [
      event('NotRecreated', 10, 'its node is not ready'),
      event('FailedMount', 11, 'of the kubelet', { reportingController: 'kubelet' }),
    ];
    const other = evidenceOf('other', { verdict: 'waiting', at: Date.now() - 120_000, hasSandbox: false });
    const { last, asked } = await lastOf(t, failed, items, {}, [{ ...waiting, evidence: other }]);
    assert.equal(last?.note, 'its node is not ready');
    assert.ok(asked.includes('reason=FailedMount'));
  });

  test('of the leader about a held pod; nothing is requested if steering is off', async (t) => {
    const items = [
      event('NodeNominated', 10, 'node n2 is nominated'),
      event('NotNominated', 11, 'no node fits'),
    ];
    assert.equal((await lastOf(t, held, items)).last?.note, 'no node fits');
    assert.deepEqual((await lastOf(t, held, items, { steer: { mode: 'off' } })).asked, []);
  });
});
