import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Event } from '../../../../webhook/cluster/events/event.ts';
import type { Configuration } from '../../../../webhook/config/types.ts';
import { gateBy } from '../../../../webhook/leader/filters.ts';
import type { PendingPod } from '../../../../webhook/leader/nominate/pending-pod.ts';
import { longHold, longWait } from '../../../../webhook/leader/report/waiting-pods.ts';
import type { PodEvidence } from '../../../../webhook/nodes/evidence/facts.ts';
import { policyOf } from '../../../support/configurations.ts';
import { clusterWith } from '../../admission/gate/support.ts';
import { evidencePod } from '../../nodes/evidence/pods.ts';
import { now, waiting } from '../nominate/support.ts';

const minute = 60_000;
const daemonSets = ['agent', 'addresses'].map((name) => ({ namespace: 'net', name }));
const profiles = [{ name: 'mesh', daemonSets, proof: { checks: [] } }];
const gate: Configuration['gate'] = { mode: 'enforce', startupGrace: '2m', maxHold: '10m' };
const readiness = clusterWith({ n1: { ready: false }, n2: {}, n3: undefined });

const heldFor = (minutes: number, more: Partial<PendingPod> = {}): PendingPod =>
  waiting('web', { heldSince: now - minutes * minute, ...more });

interface Scene {
  gate?: Partial<Configuration['gate']>;
  at?: number;
  unsteered?: string;
}

function holdOn(pod: PendingPod, { at = now, unsteered, ...more }: Scene = {}): Event | undefined {
  const policy = policyOf({ profiles, gate: { ...gate, ...more.gate } });
  return longHold(pod, { limits: policy.gate, gate: gateBy(policy, { readiness }, at), unsteered }, at);
}

suite('a hold gets an event', () => {
  const cases: [what: string, pod: PendingPod, scene: Scene, reported: boolean][] = [
    ['once it is two minutes old', heldFor(2), {}, true],
    ['not before two minutes', heldFor(1.9), {}, false],
    ['at gate.maxHold if that is less', heldFor(1), { gate: { maxHold: '1m' } }, true],
    ['not if its time cannot be read', heldFor(9, { heldSince: Number.NaN }), {}, false],
    ['not before gate.maxHold', heldFor(0.9), { gate: { maxHold: '1m' } }, false],
    ['not if the gate did not refuse the pod', heldFor(9, { refused: undefined }), {}, false],
    ['not if its node is ready now', heldFor(9, { refused: 'n2' }), {}, false],
    ['not if its node is gone', heldFor(9, { refused: 'n9' }), {}, false],
    ['not if the pod is being deleted', heldFor(9, { leaving: true }), {}, false],
    ['not in audit mode', heldFor(9), { gate: { mode: 'audit' } }, false],
    ['if the pod waited before the agent failed', heldFor(600), {}, true],
  ];
  for (const [what, pod, scene, reported] of cases) {
    test(what, () => assert.equal(holdOn(pod, scene) !== undefined, reported));
  }

  test("counted from the begin of the DaemonSet's state, as gate.maxHold is", () => {
    // the agent is not ready since half past
    const halfPast = now - 30 * minute;
    assert.equal(holdOn(heldFor(60), { at: halfPast + 1.9 * minute }), undefined);
    assert.ok(holdOn(heldFor(60), { at: halfPast + 2 * minute }));
  });

  test('the same one for as long as it waits, even if another node refuses it', () => {
    const occasion = holdOn(heldFor(5))?.occasion;
    assert.equal(holdOn(heldFor(5, { refused: 'n3' }))?.occasion, occasion);
    assert.notEqual(holdOn(heldFor(4))?.occasion, occasion);
  });
});

suite('the event of a long hold', () => {
  test('says what the pod waits for, until when at most, and where to look', () => {
    const event = holdOn(heldFor(5));
    assert.deepEqual(
      [event?.type, event?.reason, event?.regarding.uid, event?.node],
      ['Warning', 'HeldForLong', 'web-uid', 'n1'],
    );
    assert.equal(
      event?.note,
      'waiting since 2026-11-21T11:55:00Z: node n1 is not ready for profile mesh: DaemonSet net/agent is broken there since 2026-11-21T11:30:00Z (pod agent-n1): its pod is not Ready: install-cni (CNI_GATE_NODE_NOT_READY). The pod is bound when that is ready, or after 2026-11-21T12:05:00Z by gate.maxHold. Look at "kubectl describe pod -n net agent-n1" and "cni-gate status"',
    );
  });
});

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

const waitOn = (pod: PodEvidence, at = now): Event | undefined =>
  longWait(pod, { policy: policyOf({ profiles }), readiness }, at);

test('the event names the node, the time, and the DaemonSets of the profile with their state and pod', () => {
  const event = waitOn(waits());
  assert.equal(event?.reason, 'WaitingForSandbox');
  assert.equal(event.type, 'Warning');
  assert.deepEqual([event.regarding.name, event.node], ['web', 'n1']);
  assert.equal(
    event.note,
    'no sandbox on node n1 since 2026-11-21T11:59:00Z: the network has no address for the pod or is not ready, or a volume cannot be mounted. The event FailedCreatePodSandBox or FailedMount of the kubelet says which. Look at the log of DaemonSet net/agent (broken, pod agent-n1) and DaemonSet net/addresses (not known). The kubelet tries again; recreating the pod does not help',
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
