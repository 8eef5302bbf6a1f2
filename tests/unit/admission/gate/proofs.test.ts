import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { toAgentFacts } from '../../../../webhook/core/facts/node.ts';
import { gateBy } from '../../../../webhook/leader/filters.ts';
import { apiAgent, now } from '../../core/networks/objects.ts';
import { Replica } from './replica.ts';

suite('the gate with proofs', async () => {
  test('a dry run does not reserve the node', async () => {
    const replica = new Replica();
    assert.equal(await replica.says('n1', {}, { dryRun: true }), 'allowed unproved');
    assert.equal(await replica.says('n1', { uid: 'u2' }), 'allowed unproved');
  });

  test('a pod that is refused for another reason does not reserve the node', async () => {
    const replica = new Replica();
    assert.equal(await replica.says('n3', { profiles: ['bare', 'mesh'] }), 'refused absent');
    assert.equal(await replica.says('n3', { uid: 'u2', profiles: ['bare'] }), 'allowed unproved');
  });

  test('works for a network without a DaemonSet', async () => {
    const replica = new Replica();
    assert.equal(await replica.says('n3', { profiles: ['bare'] }), 'allowed unproved');
    const { message = '' } = await replica.decides('n3', { uid: 'u2', profiles: ['bare'] });
    assert.match(
      message,
      /^node n3 is not ready for profile bare: the network is unproved there: no pod has/,
    );
    replica.shows({ node: 'n3', verdict: 'passed', profiles: ['bare'] });
    assert.equal(await replica.says('n3', { uid: 'u3', profiles: ['bare'] }), 'allowed ready');
  });

  test("relies on what it observed if a node's clock was set back", async () => {
    const replica = new Replica();
    const agent = toAgentFacts(apiAgent('n1', { version: 10, containers: ['c2'] }));
    replica.readiness.setAgent({ ...agent, startedAt: now + 3_600_000 });
    replica.shows({ uid: 'late', version: 11 });
    replica.shows({ uid: 'late', version: 12, verdict: 'passed' });
    assert.equal(await replica.says('n1', { uid: 'u2' }), 'allowed ready');
    replica.readiness.setAgent({ ...agent, version: '13', containers: ['c3'], startedAt: now - 3_600_000 });
    assert.equal(await replica.says('n1', { uid: 'u2' }), 'allowed unproved');
  });

  test('allows while the pods are not listed yet, and says so', async () => {
    const replica = new Replica({}, false);
    const { outcome, reason, warnings } = await replica.decides('n1');
    assert.deepEqual([outcome, reason], ['unknown', 'not-synced']);
    assert.deepEqual(warnings, ['allowed without a check: not listed yet: pods on nodes']);
    assert.equal(await replica.says('n1', { profiles: ['old'] }), 'allowed ready');
  });

  test('steering accepts a node where a pod may try, but not while another pod is on its way there', async () => {
    const replica = new Replica();
    const accepts = (node: string, profile = 'mesh', at = now) =>
      gateBy(replica, at)([profile], node).kind !== 'blocked';
    assert.equal(accepts('n1'), true);
    await replica.says('n1');
    assert.equal(accepts('n1'), false);
    assert.equal(accepts('n2'), true);
    assert.equal(accepts('n1', 'old'), true);
    assert.equal(accepts('gone'), true, 'the node is not known');
  });
});

suite('a reservation', () => {
  const second = 1000;
  const unproved = { allowed: 'allowed unproved', refused: 'refused unproved' };
  const after = (replica: Replica, ms: number, uid = 'other') =>
    replica.says('n1', { uid, group: uid }, {}, now + ms);

  test('is only for a pod that waits: invented pods, and pods on a node, reserve nothing', async () => {
    const replica = new Replica();
    replica.shows({ uid: 'runs', node: 'n2' });
    const annotations = { 'cni-gate.io/status': '{"profiles":["mesh"]}' };
    const object = { metadata: { name: 'made-up', annotations }, spec: { nodeName: 'n1', containers: [] } };
    const madeUp = { kind: { group: '', version: 'v1', kind: 'Pod' }, name: 'made-up', object };
    for (let call = 0; call < 38; call += 1) {
      const at = now + 3 * call * second;
      assert.equal(await replica.says('n1', {}, madeUp, at), unproved.allowed);
      await replica.says('n1', { uid: 'runs' }, {}, at);
      assert.equal(await replica.says('n1', { uid: `u${call}` }, { dryRun: true }, at), unproved.allowed);
    }
    assert.equal(await after(replica, 0), unproved.allowed);
    assert.equal(await after(replica, 0, 'next'), unproved.refused, 'one of two real pods is allowed');
    assert.equal(await replica.says('n1', {}, madeUp), unproved.refused);
  });

  test('that never leads to a binding is repeated only three times, whichever pods ask', async () => {
    const replica = new Replica();
    const isFree = async (at: number): Promise<boolean> =>
      (await replica.says('n1', { uid: 'probe' }, { dryRun: true }, at)) === unproved.allowed;
    let held = 0;
    for (let at = now; at < now + 60 * second; at += second) {
      await replica.says('n1', { uid: `waits-${(at - now) % 7}` }, {}, at);
      replica.shows({ uid: `elsewhere-${at}`, node: 'n2', verdict: 'passed' }, at);
      if (!(await isFree(at))) held += 1;
    }
    assert.equal(held, 15);
    await after(replica, 74 * second);
    assert.equal(await isFree(now + 74 * second), true);
    await after(replica, 75 * second);
    assert.equal(await isFree(now + 75 * second), false, 'a minute later, the node can be reserved again');
    for (const at of [80, 85]) await after(replica, at * second);
    replica.shows({ uid: 'bound', verdict: 'passed' }, now + 91 * second);
    replica.evidence.booted('n1', '99');
    await after(replica, 92 * second);
    assert.equal(await isFree(now + 92 * second), false, 'after a binding, too');
  });

  test('replaces only a reservation for the owner of its pod', async () => {
    const replica = new Replica();
    await after(replica, 0, 'first');
    replica.evidence.reservations.reserve('mesh', 'n1', 'second', now);
    assert.equal(await after(replica, 0, 'second'), unproved.refused);
    replica.evidence.reservations.reserve('mesh', 'n2', 'web', now);
    const ofWeb = (uid: string) => replica.says('n2', { uid, group: 'web' });
    assert.equal(await replica.says('n2', { uid: 'x', group: 'db' }), unproved.refused);
    assert.deepEqual([await ofWeb('w1'), await ofWeb('w2')], [unproved.allowed, unproved.refused]);
    replica.evidence.reservations.reserve('mesh', 'n2', 'web', now);
    assert.equal(await ofWeb('w2'), unproved.refused, 'w1 is on its way');
  });

  const ends: [how: string, end: (replica: Replica) => void, milliseconds: number][] = [
    ['its pod was bound to another node', (replica) => replica.shows({ uid: 'first', node: 'n2' }), 1],
    [
      'another pod of the owner was bound to another node',
      (replica) => replica.shows({ owner: 'first', node: 'n2' }),
      1,
    ],
    ['its pod has a verdict', (replica) => replica.shows({ uid: 'first', verdict: 'not-possible' }), 1],
    ['its pod was deleted', (replica) => replica.waitsNoLonger('first'), second],
  ];
  for (const [how, end, milliseconds] of ends) {
    test(`ends when ${how}`, async () => {
      const replica = new Replica();
      const holder = how.includes('owner') ? 'owner' : 'pod';
      if (holder === 'owner') replica.evidence.reservations.reserve('mesh', 'n1', 'first', now);
      else await after(replica, 0, 'first');
      assert.equal(await after(replica, 1), unproved.refused);
      end(replica);
      assert.equal(await after(replica, milliseconds), unproved.allowed);
    });
  }

  test('ends after 5 s, however often its pod is tried, and also if the clock is set back', async () => {
    const replica = new Replica();
    const first = (at: number) => replica.says('n1', { uid: 'first', group: 'web' }, {}, now + at);
    for (const at of [0, 3 * second]) assert.equal(await first(at), unproved.allowed);
    assert.equal(await after(replica, 5 * second - 1), unproved.refused);
    assert.equal(await after(replica, 5 * second), unproved.allowed);
    assert.equal(await after(replica, 0, 'third'), unproved.allowed);
  });

  test('remains when a pod no longer waits, until the watch of pods on nodes catches up', async () => {
    const replica = new Replica();
    await after(replica, 0, 'first');
    replica.waitsNoLonger('first');
    assert.equal(await after(replica, 900), unproved.refused);
    replica.shows({ uid: 'first' });
    assert.equal(await after(replica, second), unproved.refused, 'it has no verdict yet');
  });
});
