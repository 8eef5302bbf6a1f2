import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { longest, type Notice } from '../../../webhook/events/notice.ts';
import type { PodEvidence } from '../../../webhook/evidence/facts.ts';
import { LongWaits } from '../../../webhook/report/long-waits.ts';
import { policyOf } from '../../support/configurations.ts';
import { evidencePod, now } from '../evidence/pods.ts';
import { clusterWith } from '../gate/support.ts';

const daemonSets = ['agent', 'addresses'].map((name) => ({ namespace: 'net', name }));
const policy = policyOf({ profiles: [{ name: 'mesh', daemonSets }] });
const readiness = clusterWith({ n1: { ready: false } });

const waits = (more: Partial<PodEvidence> = {}, name = 'web'): PodEvidence =>
  evidencePod(name, {
    node: 'n1',
    profiles: ['mesh'],
    verdict: 'waiting',
    at: now - 60_000,
    waitingFor: 'a sandbox',
    hasSandbox: false,
    ...more,
  });

const due = (pods: PodEvidence[], waiting = new LongWaits(), at = now, max = 100): Notice[] =>
  waiting.due(pods, { policy, readiness }, at, max);

test('the event names the node, the time, and the DaemonSets of the profile with their state and pod', () => {
  const [notice] = due([waits()]);
  assert.equal(notice?.reason, 'WaitingForSandbox');
  assert.equal(notice.type, 'Warning');
  assert.deepEqual([notice.regarding.name, notice.node], ['web', 'n1']);
  assert.equal(
    notice.note,
    'no sandbox on node n1 since 2026-11-22T11:59:00Z: the network has no address for the pod or is not ready, or a volume cannot be mounted. The event FailedCreatePodSandBox or FailedMount of the kubelet says which. Look at the log of DaemonSet net/agent (broken, pod agent-n1) and DaemonSet net/addresses (not known). The kubelet tries again; recreating the pod does not help',
  );
});

suite('a pod without a sandbox gets an event', () => {
  const cases: [string, Partial<PodEvidence>, boolean][] = [
    ['after a minute', {}, true],
    ['not before', { at: now - 59_000 }, false],
    ['counted from its creation where the pod does not say since when', { at: undefined }, true],
    ['not if it has a sandbox', { hasSandbox: true }, false],
    ['not if the kubelet does not say', { hasSandbox: undefined }, false],
    ['not if it is being deleted', { leaving: true }, false],
    ['not if it ended', { ended: true }, false],
    ['not if its proof failed', { verdict: 'failed' }, false],
  ];
  for (const [name, more, expected] of cases) {
    test(name, () => assert.equal(due([waits(more)]).length, expected ? 1 : 0));
  }
});

test('there is one event for each wait', () => {
  const waiting = new LongWaits();
  assert.equal(due([waits()], waiting).length, 1);
  assert.equal(due([waits()], waiting, now + 3_600_000).length, 0);
  const again = waits({ at: now });
  assert.equal(due([again], waiting, now + 60_000).length, 1, 'of another sandbox');
  assert.notEqual(due([again])[0]?.occasion, due([waits()])[0]?.occasion);
});

test('at most as many as asked for; the others follow', () => {
  const waiting = new LongWaits();
  const pods = ['a', 'b', 'c'].map((name) => waits({}, name));
  assert.deepEqual(
    [1, 2, 3].map(() => due(pods, waiting, now, 2).length),
    [2, 1, 0],
  );
});

test('an event that could not be written is written after a minute', () => {
  const waiting = new LongWaits();
  const [notice] = due([waits()], waiting);
  assert.ok(notice);
  waiting.failed(notice, now);
  assert.equal(due([waits()], waiting, now + 59_000).length, 0);
  assert.equal(due([waits()], waiting, now + 60_000).length, 1);
});

test('the advice is whole however long the names are', () => {
  const many = Array.from({ length: 20 }, (_, at) => ({
    namespace: 'n'.repeat(60),
    name: `${'d'.repeat(60)}${at}`,
  }));
  const long = policyOf({ profiles: [{ name: 'mesh', daemonSets: many }] });
  const [notice] = new LongWaits().due([waits()], { policy: long, readiness }, now, 1);
  assert.ok(Buffer.byteLength(notice?.note ?? '') <= longest);
  assert.match(notice?.note ?? '', /recreating the pod does not help$/);
});
