import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Event } from '../../../../webhook/cluster/events/event.ts';
import { longWait } from '../../../../webhook/leader/report/waiting-pods.ts';
import type { PodEvidence } from '../../../../webhook/nodes/evidence/facts.ts';
import { policyOf } from '../../../support/configurations.ts';
import { evidencePod, now } from '../../nodes/evidence/pods.ts';

const daemonSets = ['agent', 'addresses'].map((name) => ({ namespace: 'net', name }));
const profiles = [{ name: 'mesh', daemonSets, proof: { checks: [] } }];
const waits = (more: Partial<PodEvidence> = {}, name = 'web'): PodEvidence =>
  evidencePod(name, {
    node: 'n1',
    profiles: ['mesh'],
    verdict: 'waiting',
    at: now - 60_000,
    createdAt: now - 600_000,
    waitingFor: 'a sandbox',
    hasSandbox: false,
    ...more,
  });

const waitOn = (pod: PodEvidence, at = now): Event | undefined => longWait(pod, policyOf({ profiles }), at);

test('the event names the node, the time, and the DaemonSets of the profile', () => {
  const event = waitOn(waits());
  assert.equal(event?.reason, 'WaitingForSandbox');
  assert.equal(event.type, 'Warning');
  assert.deepEqual([event.regarding.name, event.node], ['web', 'n1']);
  assert.equal(
    event.note,
    'no sandbox on node n1 since 2026-11-22T11:59:00Z: the network has no address for the pod or is not ready, or a volume cannot be mounted. The event FailedCreatePodSandBox or FailedMount of the kubelet says which. Look at the log there of DaemonSet net/agent and DaemonSet net/addresses. The kubelet tries again; recreating the pod does not help',
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
    test(name, () => assert.equal(waitOn(waits(more)) !== undefined, expected));
  }
});

test('there is one event for each wait', () => {
  const occasion = waitOn(waits())?.occasion;
  assert.equal(waitOn(waits(), now + 3_600_000)?.occasion, occasion);
  assert.notEqual(waitOn(waits({ at: now }), now + 60_000)?.occasion, occasion, 'of another sandbox');
});
