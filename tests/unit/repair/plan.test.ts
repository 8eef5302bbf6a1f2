import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { PodEvidence } from '../../../webhook/evidence/facts.ts';
import { RepairHistory } from '../../../webhook/repair/history.ts';
import { planRepair } from '../../../webhook/repair/plan.ts';
import type { RepairPlan, RepairSnapshot } from '../../../webhook/repair/types.ts';
import { controllerOf, failedPod, openNode, Pods, snapshotOf, start } from './support.ts';

const [second, minute] = [1000, 60_000];
const now = 100 * minute;

/** The names of the pods that a plan recreates. */
const names = ({ recreations }: RepairPlan): string[] => recreations.map(({ pod }) => pod.name);

function planOf(pods: PodEvidence[], given: Parameters<typeof snapshotOf>[1] = {}) {
  const known = snapshotOf(pods, given);
  const plan = planRepair(known, new RepairHistory(), now);
  return { ...plan, names: names(plan), left: known.left.map(({ reason }) => reason) };
}

suite('which pods', () => {
  for (const verdict of ['passed', 'not-possible', 'wrong-usage', 'crashed', 'waiting'] as const) {
    test(`${verdict}: not`, () => {
      const { names, left } = planOf([failedPod({ name: 'a', verdict })]);
      assert.deepEqual([names, left], [[], []]);
    });
  }

  for (const [change, reason] of [
    [{ leaving: true }, 'leaving'],
    [{ ended: true }, 'ended'],
    [{ controller: undefined }, 'no-controller'],
    [{ controller: { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'n' } }, 'static-pod'],
    [
      { controller: { apiVersion: 'v1', kind: 'ReplicationController', name: 'a', uid: 'a' } },
      'unknown-controller',
    ],
    [
      { controller: { apiVersion: 'example.com/v1', kind: 'ReplicaSet', name: 'a', uid: 'a' } },
      'unknown-controller',
    ],
  ] as const) {
    test(`failed, ${JSON.stringify(change)}: ${reason}`, () => {
      assert.deepEqual(planOf([failedPod({ name: 'a', ...change })]).left, [reason]);
    });
  }

  for (const [kind, how] of [
    ['ReplicaSet', 'delete'],
    ['StatefulSet', 'delete'],
    ['DaemonSet', 'delete'],
    ['Job', 'release-and-delete'],
  ] as const) {
    test(`of a ${kind}: ${how}`, () => {
      const { recreations } = planOf([failedPod({ name: 'a', controller: controllerOf('a', kind) })]);
      assert.deepEqual(
        recreations.map((one) => one.how),
        [how],
      );
    });
  }

  for (const apiVersion of ['example.com/v1', 'example.com/*']) {
    test(`of another kind that the configuration names as ${apiVersion}: delete`, () => {
      const controller = { apiVersion: 'example.com/v1', kind: 'Set', name: 'a', uid: 'a' };
      const owners = [{ apiVersion, kind: 'Set' }];
      assert.deepEqual(planOf([failedPod({ name: 'a', controller })], { budgets: { owners } }).names, ['a']);
    });
  }
});

suite('where it helps', () => {
  const pod = failedPod({ name: 'a', startedAt: start - 11 * second, at: start - second });
  const daemon = failedPod({ name: 'd', controller: controllerOf('d', 'DaemonSet') });

  for (const [what, given, expected] of [
    ['the node is ready', {}, true],
    ['the node does not report', { state: 'unreachable', elsewhere: true }, 'node-unreachable'],
    ['the node is not ready', { state: 'closed' }, 'node-not-ready'],
    ['the node is not ready, another is', { state: 'closed', elsewhere: true }, true],
    ['a proof has passed on the node since', { passedAt: start - 10 * second }, true],
    ['no proof has passed on the node: one pod finds out', { state: 'unproved' }, true],
  ] as const) {
    test(`${what}: ${expected === true ? 'recreated' : expected}`, () => {
      const { names, left } = planOf([pod], given);
      assert.deepEqual([names, left], expected === true ? [['a'], []] : [[], [expected]]);
    });
  }

  test('a pod of a DaemonSet whose node is not ready, another is: it could only come back here', () => {
    assert.deepEqual(planOf([daemon], { state: 'closed', elsewhere: true }).left, ['node-not-ready']);
  });

  test('one of two profiles is not ready: left alone', () => {
    const both = failedPod({ name: 'a', profiles: ['cni', 'mesh'], failedProfiles: ['mesh'] });
    const known: RepairSnapshot = {
      ...snapshotOf([both]),
      node: (_, profile) => ({ ...openNode, state: profile === 'cni' ? 'closed' : 'open' }),
    };
    assert.deepEqual(names(planRepair(known, new RepairHistory(), now)), []);
  });

  const owners = Array.from({ length: 5 }, (_, index) =>
    failedPod({ name: `p${index}`, controller: controllerOf(`o${index}`), createdAt: start - index }),
  );

  test('five controllers, and the node has to be proved: the oldest pod finds out', () => {
    const { names, left } = planOf(owners, { state: 'unproved' });
    assert.deepEqual([names, left], [['p4'], Array(4).fill('node-to-prove')]);
  });

  test('the same while the gate lets no pod through there: none', () => {
    const { names, left } = planOf(owners, { state: 'unproved', turn: false });
    assert.deepEqual([names, left], [[], Array(5).fill('node-to-prove')]);
  });

  test('the same where the gate lets every pod through: all', () => {
    assert.equal(planOf(owners).names.length, 5);
    assert.equal(planOf(owners, { passedAt: start }).names.length, 5);
  });

  test('the gate lets one pod at a time through, and it is the turn of the next: the reason is whole', () => {
    const { recreations } = planOf([failedPod({ name: 'a' })], { state: 'unproved', elsewhere: true });
    assert.equal(recreations[0]?.why, 'node n1 gets one pod at a time, and another node is ready');
  });

  test('the gate lets one pod at a time through, and another node is ready: all', () => {
    assert.equal(planOf(owners, { state: 'unproved', elsewhere: true }).names.length, 5);
  });
});

suite('order and budgets', () => {
  const many = (count: number, given: Partial<PodEvidence> = {}): PodEvidence[] =>
    Array.from({ length: count }, (_, index) =>
      failedPod({
        name: `${given.namespace ?? 'shop'}-${index}`,
        controller: controllerOf(`${given.namespace ?? ''}${index}`),
        createdAt: start - index,
        ...given,
      }),
    );

  test('oldest first, as many as the budget of the node', () => {
    const { names, again } = planOf(many(5), { passedAt: start, budgets: { perNodePerMinute: 2 } });
    assert.deepEqual(names, ['shop-4', 'shop-3']);
    assert.equal(again, undefined, 'a plan does not wait for itself');
  });

  test('as many as the budget of the controller, of the cluster, and at most `max`', () => {
    const alike = many(5, { controller: controllerOf('web') });
    const given = { passedAt: start };
    assert.equal(planOf(alike, { ...given, budgets: { perOwnerPerMinute: 2 } }).names.length, 2);
    assert.equal(planOf(many(5), { ...given, budgets: { perMinute: 2 } }).names.length, 2);
    const known = snapshotOf(many(5), given);
    assert.equal(planRepair(known, new RepairHistory(), now, 2).recreations.length, 2);
  });

  test('namespaces take turns, and those that had fewer in the last minute come first', () => {
    const pods = [...many(4, { namespace: 'one' }), ...many(4, { namespace: 'two', createdAt: start })];
    const history = new RepairHistory();
    const known = snapshotOf(pods, { passedAt: start, budgets: { perMinute: 4 } });
    const first = planRepair(known, history, now);
    assert.deepEqual(
      names(first)
        .map((name) => name.slice(0, 3))
        .sort(),
      ['one', 'one', 'two', 'two'],
    );
    for (const recreation of first.recreations) {
      if (recreation.pod.namespace === 'one') history.made(recreation, new Pods(...pods), now);
    }
    const later = planRepair(known, history, now + 1000);
    assert.deepEqual(
      names(later).map((name) => name.slice(0, 3)),
      ['two', 'two'],
    );
  });

  test('the budget of the last minute is used up: says when there is more', () => {
    const pods = many(5);
    const history = new RepairHistory();
    const known = snapshotOf(pods, { passedAt: start, budgets: { perMinute: 2 } });
    for (const recreation of planRepair(known, history, now).recreations)
      history.made(recreation, new Pods(...pods), now);
    const later = planRepair(known, history, now + 10 * second);
    assert.deepEqual([names(later), later.again], [[], now + minute]);
    assert.equal(planRepair(known, history, now + minute).recreations.length, 2);
  });

  test('a StatefulSet: its lowest ordinal that can be helped, and no other', () => {
    const db = controllerOf('db', 'StatefulSet');
    const pods = ['db-10', 'db-2', 'db-1'].map((name, index) =>
      failedPod({ name, controller: db, createdAt: start + index, node: name === 'db-1' ? 'n2' : 'n1' }),
    );
    const known: RepairSnapshot = {
      ...snapshotOf(pods, { passedAt: start }),
      node: (node) => ({ ...openNode, passedAt: start, state: node === 'n2' ? 'closed' : 'open' }),
    };
    assert.deepEqual(names(planRepair(known, new RepairHistory(), now)), ['db-2']);
  });

  test('10,000 pods: the oldest of each namespace', () => {
    const pods = Array.from({ length: 10_000 }, (_, index) =>
      failedPod({
        name: `p${index}`,
        controller: controllerOf(`o${index}`),
        createdAt: start - ((index * 7919) % 10_000),
        namespace: `ns${index % 2}`,
      }),
    );
    const { recreations } = planOf(pods, { passedAt: start, budgets: { perNodePerMinute: 10 } });
    const ages = recreations.map(({ pod: { createdAt } }) => start - createdAt);
    assert.equal(ages.length, 10);
    assert.ok(Math.min(...ages) >= 9990, `${ages}`);
  });
});
