import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Configuration } from '../../../webhook/config/types.ts';
import { longest, type Notice } from '../../../webhook/events/notice.ts';
import { LongHolds } from '../../../webhook/steer/long-holds.ts';
import type { PendingPod } from '../../../webhook/steer/pending-pod.ts';
import { policyOf } from '../../support/configurations.ts';
import { clusterWith } from '../gate/support.ts';
import { now, waiting } from './support.ts';

const minute = 60_000;
const daemonSets = [{ namespace: 'net', name: 'agent' }];
const profiles = [{ name: 'mesh', when: {}, daemonSets, annotations: {}, proof: { checks: [] } }];
const gate: Configuration['gate'] = { mode: 'enforce', startupGrace: '2m', maxHold: '10m' };
/** The agent of n1 has not been ready for half an hour. */
const readiness = clusterWith({ n1: { ready: false }, n2: {}, n3: undefined });

/** A pod that has been held for so many minutes. */
const heldFor = (minutes: number, more: Partial<PendingPod> = {}, name = 'web'): PendingPod =>
  waiting(name, { heldSince: now - minutes * minute, ...more });

interface Scene {
  holds?: LongHolds;
  gate?: Partial<Configuration['gate']>;
  at?: number;
  max?: number;
  unsteered?: string;
}

function due(
  pods: PendingPod[],
  { holds = new LongHolds(), at = now, max = 100, ...more }: Scene = {},
): Notice[] {
  const policy = policyOf({ profiles, gate: { ...gate, ...more.gate } });
  return holds.due(pods, { policy, readiness, unsteered: more.unsteered }, at, max);
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
    test(what, () => assert.equal(due([pod], scene).length, reported ? 1 : 0));
  }

  test("counted from the begin of the DaemonSet's state, as gate.maxHold is", () => {
    // the agent is not ready since half past
    const halfPast = now - 30 * minute;
    assert.equal(due([heldFor(60)], { at: halfPast + 1.9 * minute }).length, 0);
    assert.equal(due([heldFor(60)], { at: halfPast + 2 * minute }).length, 1);
  });

  test('once, even if another node refuses the pod, and again if the pod begins to wait again', () => {
    const holds = new LongHolds();
    assert.equal(due([heldFor(5)], { holds }).length, 1);
    assert.equal(due([heldFor(5)], { holds, at: now + minute }).length, 0);
    assert.equal(due([heldFor(5, { refused: 'n3' })], { holds }).length, 0);
    assert.equal(due([heldFor(4)], { holds }).length, 1);
  });

  test('again a minute after the event could not be written, and no sooner', () => {
    const holds = new LongHolds();
    const [notice] = due([heldFor(5)], { holds });
    assert.ok(notice);
    holds.failed(notice, now);
    assert.equal(due([heldFor(5)], { holds, at: now + minute - 1 }).length, 0);
    assert.equal(due([heldFor(5)], { holds, at: now + minute }).length, 1);
  });

  test('up to the maximum at a time, the others later', () => {
    const holds = new LongHolds();
    const pods = ['a', 'b', 'c'].map((name) => heldFor(5, {}, name));
    const reported = [2, 0, 2].map((max) => due(pods, { holds, max }).map(({ regarding }) => regarding.name));
    assert.deepEqual(reported, [['a', 'b'], [], ['c']]);
  });

  test('again after the pod stopped waiting', () => {
    const holds = new LongHolds();
    due([heldFor(5)], { holds });
    due([], { holds });
    assert.equal(due([heldFor(5)], { holds }).length, 1);
  });
});

suite('the event of a long hold', () => {
  test('says what the pod waits for, until when at most, and where to look', () => {
    const [notice] = due([heldFor(5)]);
    assert.deepEqual(
      [notice?.type, notice?.reason, notice?.regarding.uid, notice?.node],
      ['Warning', 'HeldForLong', 'web-uid', 'n1'],
    );
    assert.equal(
      notice?.note,
      'waiting since 2026-11-21T11:55:00Z: node n1 is not ready for profile mesh: DaemonSet net/agent is broken there since 2026-11-21T11:30:00Z (pod agent-n1): its pod is not Ready: install-cni (CNI_GATE_NODE_NOT_READY). The pod is bound when that is ready, or after 2026-11-21T12:05:00Z by gate.maxHold. Look at "kubectl describe pod -n net agent-n1" and "cni-gate status"',
    );
  });

  test('names the DaemonSet if it has no pod on the node', () => {
    const [notice] = due([heldFor(5, { refused: 'n3' })]);
    assert.match(notice?.note ?? '', / Look at "kubectl describe daemonset -n net agent" and /);
  });

  test('says why no other node is nominated', () => {
    const [notice] = due([heldFor(5)], { unsteered: 'steer.mode is off' });
    assert.match(
      notice?.note ?? '',
      /gate\.maxHold\. No other node is nominated: steer\.mode is off\. Look at /,
    );
  });

  test('has the same name from the next leader, and another name for another pod or hold', () => {
    const name = (pod: PendingPod, at = now): string =>
      due([pod], { at }).map(
        ({ regarding: { uid }, reason, occasion }) => `${uid} ${reason} ${occasion}`,
      )[0] ?? '';
    assert.equal(name(heldFor(5), now), name(heldFor(5), now + 3 * minute));
    assert.equal(name(heldFor(5)), name(heldFor(5, { refused: 'n3' })));
    assert.equal(new Set([name(heldFor(5)), name(heldFor(4)), name(heldFor(5, {}, 'other'))]).size, 3);
  });

  test('fits an event, and keeps where to look', () => {
    const name = 'n'.repeat(63);
    const broken = clusterWith({
      [name]: { ready: false, name: `agent-${name}`, waiting: 'é'.repeat(900) },
    });
    const policy = policyOf({ profiles, gate });
    const pod = heldFor(5, { refused: name });
    const [notice] = new LongHolds().due([pod], { policy, readiness: broken, unsteered: undefined }, now, 1);
    const note = notice?.note ?? '';
    assert.ok(Buffer.byteLength(note) <= longest && Buffer.byteLength(note) > longest - 5, note);
    assert.match(
      note,
      /é… \(CNI_GATE_NODE_NOT_READY\)\. The pod is bound when .* Look at .* and "cni-gate status"$/,
    );
  });
});
