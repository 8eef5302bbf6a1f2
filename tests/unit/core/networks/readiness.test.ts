import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { OwnerReference } from '../../../../webhook/core/facts/api.ts';
import { toAgentFacts, toDaemonSetFacts, toNodeFacts } from '../../../../webhook/core/facts/node.ts';
import { longestStale } from '../../../../webhook/core/networks/boots.ts';
import type { DaemonSetStatus } from '../../../../webhook/core/networks/daemon-set-status.ts';
import { Readiness } from '../../../../webhook/core/networks/readiness.ts';
import { type AgentOptions, apiAgent, apiDaemonSet, apiNode, now } from './objects.ts';

const ref = { namespace: 'net', name: 'agent' };
const grace = 120_000;
const at = (text: string): number => Date.parse(text);

type Change = (readiness: Readiness) => void;

const node =
  (bootID = 'b1', version = 1, more = {}): Change =>
  (readiness) =>
    readiness.setNode(toNodeFacts(apiNode('n1', bootID, version, more)), now);
const daemonSet =
  (template = {}): Change =>
  (readiness) =>
    readiness.setDaemonSet(toDaemonSetFacts(apiDaemonSet('agent', template)));
const agent =
  (options: AgentOptions = {}): Change =>
  (readiness) =>
    readiness.setAgent(toAgentFacts(apiAgent('n1', options)));
const gone: Change = (readiness) => readiness.removeAgent('agent-n1-uid');
const nodeGone: Change = (readiness) => readiness.removeNode('n1');

function after(...changes: Change[]): Readiness {
  const readiness = new Readiness();
  for (const change of changes) change(readiness);
  return readiness;
}
const status = (readiness: Readiness): DaemonSetStatus | undefined => readiness.status(ref, 'n1', now, grace);

suite('the status of a DaemonSet on a node', () => {
  const young = '2026-11-21T11:59:00Z';
  const since = at('2026-11-21T11:30:00Z');
  const ready: DaemonSetStatus = { state: 'ready', pod: 'agent-n1', reason: '', since };
  const none: DaemonSetStatus = { state: 'absent', reason: 'no pod of it is on the node' };
  const reason = 'its pod has ended or is being deleted';
  const ended: DaemonSetStatus = { ...none, pod: 'agent-n1', reason };
  const exempt: DaemonSetStatus = { state: 'exempt', reason: '' };
  const unready = (state: 'starting' | 'broken', why = ''): DaemonSetStatus => ({
    ...{ ...ready, state },
    reason: `its pod is not Ready: install-cni${why}`,
  });
  const newAgent = (name = 'agent-n1') => agent({ name, ready: false, createdAt: young });
  const crashing = agent({ ready: false, waiting: 'CrashLoopBackOff' });
  const forged: Change = (readiness) =>
    readiness.setAgent({ ...toAgentFacts(apiAgent('n1', {})), uid: 'forged', namespace: 'aaa' });
  const known = [node(), daemonSet()];
  const cases: [what: string, changes: Change[], expected: DaemonSetStatus | undefined][] = [
    ['its pod is Ready', [...known, agent()], ready],
    ['a pod of another namespace claims to be its pod', [...known, forged, newAgent()], unready('starting')],
    ['the DaemonSet is not known', [node(), agent()], undefined],
    ['the node is not known', [daemonSet(), agent()], undefined],
    ['the node is gone', [...known, agent(), nodeGone], undefined],
    ['a node with that name is added later', [...known, agent(), gone, nodeGone, node()], none],
    ['its pod has been unready for long', [...known, crashing], unready('broken', ' (CrashLoopBackOff)')],
    ['its pod is new and not Ready', [...known, newAgent()], unready('starting')],
    ['it has no pod there', known, none],
    ['a pod of another DaemonSet is not its pod', [...known, agent({ owner: 'other' })], none],
    ['its pod is being deleted', [...known, agent({ deleted: true })], ended],
    ['its old pod is Ready beside the new one', [...known, agent(), newAgent('agent-new')], ready],
    ['it does not select the node', [node(), daemonSet({ nodeSelector: { pool: 'a' } })], exempt],
  ];
  for (const [what, changes, expected] of cases) {
    test(what, () => assert.deepEqual(status(after(...changes)), expected));
  }
});

suite('a reboot', () => {
  const before = [daemonSet(), node('b1', 10), agent({ version: 11, containers: ['c1'] })];
  const state = (...changes: Change[]): string | undefined => status(after(...before, ...changes))?.state;
  const boot = node('b2', 20);
  const stale = agent({ version: 21, containers: ['c1'] });
  const unready = agent({ version: 22, ready: false, containers: ['c1'] });
  const starting = agent({ version: 23, ready: false, containers: ['c2'] });
  const back = agent({ version: 24, containers: ['c2'] });

  const two = (version: number, ...containers: string[]): Change => agent({ version, containers });
  const stuck = ['c2', 'c3', 'c4', 'c5', 'c6'].map((id, index) => two(21 + index, id, 'd1'));
  const again = node('b3', 30);
  const otherNode = (version: number): Change =>
    node('b9', version, { metadata: { ...apiNode('n1', '', version).metadata, uid: 'other' } });
  const cases: [what: string, expected: string, changes: Change[]][] = [
    ['none', 'ready', []],
    ['only the boot is known', 'rebooted', [boot]],
    ['the pod is shown as before', 'rebooted', [boot, stale]],
    ['the pod is not Ready', 'rebooted', [boot, stale, unready]],
    ['the pod has a new container, and is not Ready', 'broken', [boot, stale, unready, starting]],
    ['the pod has a new container, and is Ready', 'ready', [boot, stale, unready, starting, back]],
    ['the pod has no container', 'rebooted', [boot, agent({ version: 21, ready: false, containers: [] })]],
    ['one container of two restarts repeatedly', 'rebooted', [two(12, 'c1', 'd1'), boot, ...stuck]],
    ['both containers are new', 'ready', [two(12, 'c1', 'd1'), boot, two(21, 'c2', 'd2')]],
    ['the watch of pods is ahead', 'ready', [stale, unready, starting, back, boot]],
    ['the watch of pods is ahead, with the old container', 'rebooted', [stale, boot]],
    ['the watch of pods is a little ahead', 'ready', [unready, starting, boot, back]],
    ['an older status of the pod comes last', 'broken', [back, boot, starting]],
    ['two reboots: containers of the boot in between are old', 'rebooted', [boot, back, again]],
    ['two reboots, and a container since', 'ready', [boot, back, again, two(31, 'c3')]],
    ['two reboots, seen before the pod', 'rebooted', [boot, again, back]],
    [
      'another pod beside the old one',
      'ready',
      [boot, stale, agent({ uid: 'other', version: 25, containers: ['c9'] })],
    ],
    ['another pod since', 'ready', [boot, gone, agent({ uid: 'other', version: 25, containers: ['c9'] })]],
    ['nothing is kept of deleted pods', 'ready', [boot, gone, two(25, 'c1')]],
    ['the same boot ID again is no reboot', 'ready', [node('b1', 40)]],
    ['a missing boot ID is no reboot', 'ready', [node('', 40)]],
    ['the node is added again with its boot ID', 'ready', [nodeGone, node('b1', 41)]],
    ['a new node of that name with another boot ID', 'rebooted', [otherNode(41)]],
    ['the same after the deletion of the first', 'ready', [nodeGone, otherNode(41)]],
  ];
  for (const [what, expected, changes] of cases) {
    test(`${what}: ${expected}`, () => assert.equal(state(...changes), expected));
  }

  test('blocks the node only for a limited time, because a new container may be mistaken for an old one', () => {
    const readiness = after(...before, back, node('b2', 60));
    const later = (time: number) => readiness.status(ref, 'n1', now + time, grace)?.state;
    assert.deepEqual([later(longestStale), later(longestStale + 1)], ['rebooted', 'ready']);
  });

  test('is reported once, and never for a node that was not known before', () => {
    const readiness = new Readiness();
    const booted = ['b1', 'b1', 'b2', 'b2'].map((bootID) =>
      readiness.setNode(toNodeFacts(apiNode('n1', bootID, 1)), now),
    );
    assert.deepEqual(booted, [false, false, true, false]);
  });

  test('is not noticed if versions are not numbers', () => {
    const booted = toNodeFacts(apiNode('n1', 'b2', 20));
    const shown = toAgentFacts(apiAgent('n1', { containers: ['c1'] }));
    const worded: Change = (readiness) => {
      readiness.setNode({ ...booted, version: 'x' }, now);
      readiness.setAgent({ ...shown, version: 'y' });
    };
    assert.equal(state(worded), 'ready');
  });
});

suite('the latest start of a container', () => {
  const started = (...changes: Change[]) => after(daemonSet(), node(), ...changes).started([ref], 'n1');
  const shows =
    (version: number, startedAt: number, id: string, listed = false): Change =>
    (readiness) => {
      const facts = toAgentFacts(apiAgent('n1', { version, containers: [id] }));
      readiness.setAgent({ ...facts, startedAt }, listed);
    };
  const first = shows(10, 1000, 'c1', true);

  test('is ordered by versions, whatever the clock says, except for the first known start', () => {
    assert.deepEqual(started(first), { at: 1000, after: undefined, shownBy: '10' });
    assert.deepEqual(started(first, shows(20, 500, 'c2')), { at: 500, after: '20', shownBy: '20' });
    assert.deepEqual(started(first, shows(20, 500, 'c2', true)), { at: 500, after: '10', shownBy: '20' });
  });

  test('stays while no other container starts', () => {
    assert.equal(started(first, shows(20, 500, 'c2'), shows(30, 500, 'c2')).shownBy, '20');
  });

  test('is the latest of all pods that the DaemonSet still has', () => {
    const other: Change = (readiness) => {
      const facts = toAgentFacts(apiAgent('n1', { name: 'other', version: 30 }));
      readiness.setAgent({ ...facts, startedAt: 2000 });
    };
    assert.equal(started(first, other).at, 2000);
    assert.equal(started(first, other, agent({ name: 'other', owner: 'other' })).at, 1000);
    assert.equal(started(first, other, agent({ name: 'other', version: 31, deleted: true })).at, 1000);
    assert.equal(started().at, Number.NEGATIVE_INFINITY);
  });
});

suite("the facts of a DaemonSet's pod", () => {
  test('the owner is the controller among several', () => {
    const owned = (...owners: Pick<OwnerReference, 'uid' | 'controller'>[]): string => {
      const pod = apiAgent('n1');
      const named = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'agent' };
      const ownerReferences = owners.map((owner) => ({ ...named, ...owner }));
      return toAgentFacts({ ...pod, metadata: { ...pod.metadata, ownerReferences } }).owner;
    };
    assert.equal(owned({ uid: 'other' }, { uid: 'mine', controller: true }), 'mine');
    assert.equal(owned({ uid: 'other', controller: false }, { uid: 'third' }), '');
    assert.equal(owned(), '');
  });

  test('the reason lists containers that are not ready, without completed init containers', () => {
    const reason = (reason: string): string => {
      const pod = apiAgent('n1', { ready: false });
      const install = { name: 'copy-files', ready: false, state: { terminated: { exitCode: 1, reason } } };
      return toAgentFacts({ ...pod, status: { ...pod.status, initContainerStatuses: [install] } }).reason;
    };
    assert.equal(reason('Completed'), 'install-cni');
    assert.equal(reason('Error'), 'copy-files (Error), install-cni');
  });
});
