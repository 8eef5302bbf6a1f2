import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { bootGracePeriod, longestStale } from '../../../../webhook/nodes/readiness/boots.ts';
import { type Change, Readiness } from '../../../../webhook/nodes/readiness/readiness.ts';
import type { DaemonSetStatus } from '../../../../webhook/nodes/readiness/state.ts';
import { toAgentFacts, toDaemonSetFacts, toNodeFacts } from '../../../../webhook/nodes/readiness/to-facts.ts';
import { type AgentOptions, apiAgent, apiDaemonSet, apiNode, now } from './objects.ts';

const ref = { namespace: 'net', name: 'agent' };
const grace = 120_000;
const at = (text: string): number => Date.parse(text);

const node = (bootID = 'b1', version = 1, more = {}): Change => ({
  kind: 'node',
  facts: toNodeFacts(apiNode('n1', bootID, version, more)),
  listed: false,
});
const daemonSet = (template = {}): Change => ({
  kind: 'daemonset',
  facts: toDaemonSetFacts(apiDaemonSet('agent', template)),
});
const agent = (options: AgentOptions = {}): Change => ({
  kind: 'agent',
  facts: toAgentFacts(apiAgent('n1', options)),
});

function after(...changes: Change[]): Readiness {
  const readiness = new Readiness();
  for (const change of changes) readiness.apply(change, now);
  return readiness;
}
const status = (readiness: Readiness): DaemonSetStatus | undefined => readiness.status(ref, 'n1', now, grace);

suite('the status of a DaemonSet on a node', () => {
  const young = '2026-11-21T11:59:00Z';
  const since = at('2026-11-21T11:30:00Z');
  const observedAt = at('2026-11-21T11:00:00Z');
  const ready: DaemonSetStatus = { state: 'ready', pod: 'agent-n1', reason: '', since };
  const none: DaemonSetStatus = { state: 'absent', reason: 'no pod of it is on the node', observedAt };
  const ended: DaemonSetStatus = {
    ...none,
    pod: 'agent-n1',
    reason: 'its pod has ended or is being deleted',
  };
  const unready = (state: 'starting' | 'broken'): DaemonSetStatus => ({
    ...ready,
    state,
    reason: 'its pod is not Ready: install-cni',
  });
  const cases: [what: string, changes: Change[], expected: DaemonSetStatus | undefined][] = [
    ['its pod is Ready', [node(), daemonSet(), agent()], ready],
    [
      'a pod of another namespace that claims to be its pod is Ready, and its own is not',
      [
        node(),
        daemonSet(),
        { kind: 'agent', facts: { ...toAgentFacts(apiAgent('n1', {})), uid: 'forged', namespace: 'aaa' } },
        agent({ ready: false, createdAt: young }),
      ],
      unready('starting'),
    ],
    ['the DaemonSet is not known', [node(), agent()], undefined],
    ['the node is not known', [daemonSet(), agent()], undefined],
    [
      'its pod has been unready for long, and says why',
      [node(), daemonSet(), agent({ ready: false, waiting: 'CrashLoopBackOff' })],
      {
        state: 'broken',
        pod: 'agent-n1',
        reason: 'its pod is not Ready: install-cni (CrashLoopBackOff)',
        since: at('2026-11-21T11:30:00Z'),
      },
    ],
    [
      'its pod is new and not Ready',
      [node(), daemonSet(), agent({ ready: false, createdAt: young })],
      unready('starting'),
    ],
    [
      'the node is new',
      [
        node('b1', 1, { metadata: { ...apiNode('n1', '', 1).metadata, creationTimestamp: young } }),
        daemonSet(),
        agent({ ready: false }),
      ],
      unready('starting'),
    ],
    [
      'its pod has no Ready condition yet',
      [
        node(),
        daemonSet(),
        {
          kind: 'agent',
          facts: { ...toAgentFacts(apiAgent('n1', { ready: false })), readySince: undefined },
        },
      ],
      {
        state: 'broken',
        pod: 'agent-n1',
        reason: 'its pod is not Ready: install-cni',
        since: at('2026-11-21T11:00:00Z'),
      },
    ],
    ['no pod of it is there', [node(), daemonSet()], none],
    ['a pod of another DaemonSet is no pod of it', [node(), daemonSet(), agent({ owner: 'other' })], none],
    ['its pod is being deleted', [node(), daemonSet(), agent({ deleted: true })], ended],
    ['its pod was evicted', [node(), daemonSet(), agent({ phase: 'Failed', ready: false })], ended],
    [
      'its pod is replaced, the old one still Ready beside the new one',
      [node(), daemonSet(), agent(), agent({ name: 'agent-new', ready: false, createdAt: young })],
      ready,
    ],
    [
      'it does not want the node',
      [node(), daemonSet({ nodeSelector: { pool: 'a' } })],
      { state: 'exempt', reason: '' },
    ],
    [
      'a pod is there although it does not want the node any more',
      [node(), daemonSet({ nodeSelector: { pool: 'a' } }), agent({ ready: false })],
      unready('broken'),
    ],
  ];
  for (const [what, changes, expected] of cases) {
    test(what, () => assert.deepEqual(status(after(...changes)), expected));
  }

  test('deleted objects are forgotten', () => {
    const readiness = after(node(), daemonSet(), agent());
    readiness.apply({ kind: 'agent-gone', uid: 'agent-n1-uid' }, now);
    assert.equal(status(readiness)?.state, 'absent');
    readiness.apply({ kind: 'daemonset-gone', ...ref }, now);
    assert.equal(status(readiness), undefined);
    assert.equal(readiness.knows(ref), false);
    readiness.apply(daemonSet(), now);
    readiness.apply({ kind: 'node-gone', name: 'n1' }, now);
    assert.equal(status(readiness), undefined);
    assert.deepEqual([...readiness.nodes()], []);
  });

  test('a pod that is bound later, or to another node with the same UID, counts for its current node', () => {
    const readiness = after(node(), daemonSet());
    readiness.apply({ kind: 'agent', facts: toAgentFacts({ ...apiAgent('n1'), spec: {} }) }, now);
    assert.equal(status(readiness)?.state, 'absent');
    readiness.apply(agent(), now);
    assert.equal(status(readiness)?.state, 'ready');
  });
});

suite('a reboot', () => {
  const before = [daemonSet(), node('b1', 10), agent({ version: 11, containers: ['c1'] })];
  const state = (...changes: Change[]): string | undefined => status(after(...before, ...changes))?.state;
  const boot = node('b2', 20);
  const stale = agent({ version: 21, containers: ['c1'] });
  const unready = agent({ version: 22, ready: false, containers: ['c1'] });
  const starting = agent({ version: 23, ready: false, containers: ['c2'] });
  const back = agent({ version: 24, containers: ['c2'] });

  test('holds the node until the pod has a container started since, and is Ready', () => {
    assert.equal(state(), 'ready');
    assert.equal(state(boot), 'rebooted');
    assert.equal(state(boot, stale), 'rebooted');
    assert.equal(state(boot, stale, unready), 'rebooted');
    assert.equal(state(boot, stale, unready, starting), 'broken');
    assert.equal(state(boot, stale, unready, starting, back), 'ready');
  });

  test('holds the node while the pod has no container', () => {
    assert.equal(state(boot, agent({ version: 21, ready: false, containers: [] })), 'rebooted');
  });

  test('stays known while one container of several restarts repeatedly', () => {
    const stuck = (id: string, version: number) => agent({ version, containers: [id, 'd1'] });
    const starts = ['c2', 'c3', 'c4', 'c5', 'c6'].map((id, index) => stuck(id, 21 + index));
    assert.equal(state(stuck('c1', 12), boot, ...starts), 'rebooted');
  });

  test('is detected whichever of the two watches is ahead', () => {
    assert.equal(state(stale, unready, starting, back, boot), 'ready');
    assert.equal(state(stale, boot), 'rebooted');
    assert.equal(state(unready, starting, boot, back), 'ready');
    assert.equal(state(back, boot, starting), 'broken');
  });

  test('two reboots: containers of the boot in between are old', () => {
    const again = node('b3', 30);
    assert.equal(state(boot, back, again), 'rebooted');
    assert.equal(state(boot, back, again, agent({ version: 31, containers: ['c3'] })), 'ready');
    assert.equal(state(boot, again, back), 'rebooted');
  });

  test('a pod with several containers needs all of them new', () => {
    const two = (version: number, ...containers: string[]) => agent({ version, containers });
    assert.equal(state(two(12, 'c1', 'd1'), boot, two(21, 'c2', 'd1')), 'rebooted');
    assert.equal(state(two(12, 'c1', 'd1'), boot, two(21, 'c2', 'd2')), 'ready');
  });

  test('a new pod after the reboot counts as started since', () => {
    const gone: Change = { kind: 'agent-gone', uid: 'agent-n1-uid' };
    assert.equal(state(boot, gone, agent({ uid: 'other', version: 25, containers: ['c9'] })), 'ready');
  });

  test('nothing is kept of deleted pods', () => {
    const gone: Change = { kind: 'agent-gone', uid: 'agent-n1-uid' };
    assert.equal(state(boot, gone, agent({ version: 25, containers: ['c1'] })), 'ready');
  });

  test('the same boot id again is no reboot', () => {
    assert.equal(state(node('b1', 40)), 'ready');
    assert.equal(state(node('', 40)), 'ready');
    assert.equal(state({ kind: 'node-gone', name: 'n1' }, node('b1', 41)), 'ready');
  });

  test('a node that is created again with another boot id counts as rebooted', () => {
    const other = { metadata: { ...apiNode('n1', '', 41).metadata, uid: 'other' } };
    assert.equal(state(node('b9', 41, other)), 'rebooted');
    assert.equal(state({ kind: 'node-gone', name: 'n1' }, node('b9', 41, other)), 'rebooted');
  });

  test('holds the node while the containers are the old ones', () => {
    const readiness = after(...before);
    readiness.apply(boot, now + bootGracePeriod);
    const later = now + 100 * longestStale;
    assert.equal(readiness.status(ref, 'n1', later, grace)?.state, 'rebooted');
    readiness.apply(back, later);
    assert.equal(readiness.status(ref, 'n1', later, grace)?.state, 'ready');
  });

  const doubts: [what: string, changes: [Change, Change], wait: number][] = [
    [
      'a list reported the boot, with the latest version of the node, after the pod had its new container',
      [back, { ...node('b2', 60), listed: true } as Change],
      100 * bootGracePeriod,
    ],
    ['the kubelet reported the new container first', [back, node('b2', 60)], bootGracePeriod - 1],
  ];
  for (const [what, [first, second], wait] of doubts) {
    test(`a pod that is Ready some time later counts as ready, if ${what}`, () => {
      const readiness = after(...before, first);
      const observed = now + wait;
      readiness.apply(second, observed);
      const later = (time: number) => readiness.status(ref, 'n1', observed + time, grace)?.state;
      assert.deepEqual(
        [later(0), later(longestStale), later(longestStale + 1)],
        ['rebooted', 'rebooted', 'ready'],
      );
    });
  }

  test('a hold for rebooted or absent counts from its observation', () => {
    const booted = after(...before, boot);
    assert.equal(status(booted)?.observedAt, now);
    booted.apply({ kind: 'agent-gone', uid: 'agent-n1-uid' }, now + 5000);
    const absent = booted.status(ref, 'n1', now + 9000, grace);
    assert.deepEqual([absent?.state, absent?.observedAt], ['absent', now + 5000]);
  });

  test('lost and restored heartbeats without a boot are no reboot', () => {
    const expired = agent({ version: 50, ready: false, containers: ['c1'] });
    assert.equal(state(expired), 'broken');
    assert.equal(state(expired, agent({ version: 51, containers: ['c1'] })), 'ready');
  });

  test('versions that are not numbers: the order of arrival counts', () => {
    const worded = (change: Change, version: string): Change =>
      ({ ...change, facts: { ...('facts' in change && change.facts), version } }) as Change;
    assert.equal(state(worded(boot, 'x'), worded(stale, 'y')), 'rebooted');
    assert.equal(state(worded(boot, 'x'), worded(back, 'y')), 'ready');
  });
});
