import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Event } from '../../../../webhook/cluster/events/event.ts';
import type { Configuration } from '../../../../webhook/config/types.ts';
import { gateBy } from '../../../../webhook/leader/filters.ts';
import type { PendingPod } from '../../../../webhook/leader/nominate/pending-pod.ts';
import { longHold } from '../../../../webhook/leader/report/waiting-pods.ts';
import { policyOf } from '../../../support/configurations.ts';
import { clusterWith } from '../../admission/gate/support.ts';
import { now, waiting } from './support.ts';

const minute = 60_000;
const daemonSets = [{ namespace: 'net', name: 'agent' }];
const profiles = [{ name: 'mesh', when: {}, daemonSets, annotations: {}, proof: { checks: [] } }];
const gate: Configuration['gate'] = { mode: 'enforce', startupGrace: '2m', maxHold: '10m' };
const readiness = clusterWith({ n1: { ready: false }, n2: {}, n3: undefined });

const heldFor = (minutes: number, more: Partial<PendingPod> = {}): PendingPod =>
  waiting('web', { heldSince: now - minutes * minute, ...more });

interface Scene {
  gate?: Partial<Configuration['gate']>;
  at?: number;
  unsteered?: string;
}

function eventOn(pod: PendingPod, { at = now, unsteered, ...more }: Scene = {}): Event | undefined {
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
    test(what, () => assert.equal(eventOn(pod, scene) !== undefined, reported));
  }

  test("counted from the begin of the DaemonSet's state, as gate.maxHold is", () => {
    // the agent is not ready since half past
    const halfPast = now - 30 * minute;
    assert.equal(eventOn(heldFor(60), { at: halfPast + 1.9 * minute }), undefined);
    assert.ok(eventOn(heldFor(60), { at: halfPast + 2 * minute }));
  });

  test('the same one for as long as it waits, even if another node refuses it', () => {
    const occasion = eventOn(heldFor(5))?.occasion;
    assert.equal(eventOn(heldFor(5, { refused: 'n3' }))?.occasion, occasion);
    assert.notEqual(eventOn(heldFor(4))?.occasion, occasion);
  });
});

suite('the event of a long hold', () => {
  test('says what the pod waits for, until when at most, and where to look', () => {
    const event = eventOn(heldFor(5));
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
