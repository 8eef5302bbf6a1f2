import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { decide } from '../../../../webhook/leader/repair/decide.ts';
import { policyOf } from '../../../support/configurations.ts';
import { controllerOf, factsWith, failedPod, openNode, start } from './support.ts';

const second = 1000;

/** The decision in a word: `recreate`, or the reason why the pod is left alone. */
function wordFor(...[pod, facts]: Parameters<typeof decide>): string {
  const decision = decide(pod, facts);
  return 'how' in decision ? 'recreate' : decision.reason;
}

const pod = failedPod({ name: 'a', startedAt: start - 11 * second, at: start - second });

suite('which pods', () => {
  for (const [change, expected] of [
    [{ leaving: true }, 'leaving'],
    [{ ended: true }, 'ended'],
    [{ warned: true }, 'warn-mode'],
    [{ controller: undefined }, 'no-controller'],
    [{ controller: { apiVersion: 'v1', kind: 'Node', name: 'n1', uid: 'n' } }, 'static-pod'],
    [{ controller: { ...controllerOf('a'), apiVersion: 'v1' } }, 'unknown-controller'],
    [
      { controller: { ...controllerOf('a', 'ReplicationController'), apiVersion: 'apps/v1' } },
      'unknown-controller',
    ],
    [{ controller: { ...controllerOf('a'), apiVersion: 'example.com/v1' } }, 'unknown-controller'],
  ] as const) {
    test(`failed, ${JSON.stringify(change)}: ${expected}`, () =>
      assert.equal(wordFor(failedPod({ name: 'a', ...change }), factsWith()), expected));
  }

  test('failed in warn mode while the configuration warns: would be recreated', () => {
    const facts = { ...factsWith(), enforces: false };
    assert.equal(wordFor(failedPod({ name: 'a', warned: true }), facts), 'recreate');
  });

  for (const [kind, how] of [
    ['ReplicaSet', 'delete'],
    ['StatefulSet', 'delete'],
    ['DaemonSet', 'delete'],
    ['Job', 'release-and-delete'],
    ['ReplicationController', 'delete'],
  ] as const) {
    test(`of a ${kind}: ${how}`, () => {
      const decision = decide(failedPod({ name: 'a', controller: controllerOf('a', kind) }), factsWith());
      assert.equal('how' in decision && decision.how, how);
    });
  }

  for (const [apiVersion, owner] of [
    ['example.com/v1', 'example.com/*'],
    ['v1', 'v1'],
  ] as const) {
    test(`of another kind that the configuration names, of ${apiVersion}: recreated`, () => {
      const controller = { apiVersion, kind: 'Set', name: 'a', uid: 'a' };
      const { repair } = policyOf({ repair: { owners: [{ apiVersion: owner, kind: 'Set' }] } });
      const facts = { ...factsWith(), owners: repair.owners };
      assert.equal(wordFor(failedPod({ name: 'a', controller }), facts), 'recreate');
    });
  }
});

suite('where it helps', () => {
  test('the pod is to move from a node that is closed or unproved, where another is open', () => {
    for (const state of ['closed', 'try', 'unproved'] as const) {
      const decision = decide(failedPod({ name: 'a' }), factsWith({ state }, { elsewhere: true }));
      assert.equal('how' in decision && decision.moves, true, state);
    }
  });

  const elsewhere = { elsewhere: true };
  for (const [what, given, other, expected] of [
    ['the node does not report', { state: 'unreachable' }, elsewhere, 'node-unreachable'],
    ['the node is not ready', { state: 'closed' }, {}, 'node-not-ready'],
    [
      'the node is not ready, another is',
      { state: 'closed', why: 'it is cordoned' },
      elsewhere,
      'node n1 is not ready for it, and another node is: it is cordoned',
    ],
    [
      'a proof has passed on the node since',
      { passedAt: { at: start - 10 * second } },
      {},
      'a proof of another pod has passed on node n1 since',
    ],
    [
      'a proof was seen to pass since, and the clock of the node was set back',
      { passedAt: { at: start - 20 * second, after: '11', shownBy: '12' } },
      {},
      'a proof of another pod has passed on node n1 since',
    ],
    [
      'no proof has passed on the node since',
      { state: 'try' },
      {},
      'node n1 is ready, and a new pod finds out whether its network works',
    ],
    [
      'no proof has passed on the node, another is ready',
      { state: 'try' },
      elsewhere,
      'node n1 gets one pod at a time, and another node is ready',
    ],
    ['the gate lets no pod through there', { state: 'unproved' }, {}, 'node-to-prove'],
  ] as const) {
    test(`${what}: ${expected}`, () => {
      const decision = decide(pod, factsWith(given, other));
      assert.equal('how' in decision ? decision.why : decision.reason, expected);
    });
  }

  test('a pod of a DaemonSet whose node is not ready, another is: it could only come back here', () => {
    const daemon = failedPod({ name: 'd', controller: controllerOf('d', 'DaemonSet') });
    assert.equal(wordFor(daemon, factsWith({ state: 'closed' }, elsewhere)), 'node-not-ready');
  });

  test('one of two profiles is not ready: left alone', () => {
    const both = failedPod({ name: 'a', profiles: ['cni', 'mesh'], failedProfiles: ['mesh'] });
    const facts = factsWith();
    facts.node = (_, profile) => ({ ...openNode, state: profile === 'cni' ? 'closed' : 'open' });
    assert.equal(wordFor(both, facts), 'node-not-ready');
  });
});

suite('what keeps it', () => {
  test('what the leader did before', () =>
    assert.equal(wordFor(pod, factsWith({}, { limit: { reason: 'owner-pause' } })), 'owner-pause'));
});
