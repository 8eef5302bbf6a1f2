import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { podEvent, skippedPodEvent, workloadEvent } from '../../../../webhook/leader/recreate/events.ts';
import { SkippedPods } from '../../../../webhook/leader/recreate/skipped-pods.ts';
import {
  type Recreation,
  type SkippedPod,
  type SkipReason,
  skipReasons,
} from '../../../../webhook/leader/recreate/types.ts';
import type { PodEvidence } from '../../../../webhook/nodes/evidence/facts.ts';
import { controllerOf, failedPod, start } from './support.ts';

const recreation = (name: string, why: string): Recreation => ({
  pod: failedPod({ name }),
  how: 'delete',
  why,
  probes: false,
});
const web = controllerOf('web', 'Deployment');

suite('events of repair', () => {
  test('on a workload: one reason for all its pods', () => {
    const both = [recreation('a', 'it is so'), recreation('b', 'it is so')] as const;
    assert.equal(
      workloadEvent(web, [...both], 'recreated').note,
      'the proofs of the networks of 2 pods failed, so they are deleted to be recreated (a on node n1, b on node n1): it is so',
    );
  });

  test('on a workload: of several reasons, whose it is', () => {
    const { note } = workloadEvent(web, [recreation('a', 'it is so'), recreation('b', 'not')], 'recreated');
    assert.match(note, /\(a on node n1, b on node n1\), the first one because it is so$/);
  });

  test('of a pod that would be recreated: the settings for which it is not', () => {
    const { note } = podEvent(recreation('a', 'it is so'), 'wouldRecreate');
    assert.match(note, /but repair only reports \(repair\.mode is audit, or proof\.mode warn\): it is so$/);
  });

  test('of a pod that waits for a node: why, and what will be, however long the reason', () => {
    const note = (why: string) =>
      skippedPodEvent({ pod: failedPod({ name: 'a' }), reason: 'node-not-ready', why }).note;
    assert.match(
      note('its agent fails'),
      /no other node is: look at the DaemonSet of its network \(its agent fails\)\. It is recreated when a node is ready$/,
    );
    assert.ok(Buffer.byteLength(note('x'.repeat(2000))) <= 1024);
  });

  test('of a pod that ended: what its Job needs', () => {
    const pod = failedPod({ name: 'a', ended: true, controller: controllerOf('job', 'Job') });
    const { note } = skippedPodEvent({ pod, reason: 'ended', why: '' });
    assert.match(note, /it has ended, .* unless its podFailurePolicy ignores exit code 95 \(and 255, .*\)$/);
  });
});

suite('an event about a pod that is left alone', () => {
  const left = (reason: SkipReason, given: Partial<PodEvidence> = {}): SkippedPod => ({
    pod: failedPod({ name: 'a', ...given }),
    reason,
    why: '',
  });

  /** Whether an event is due at a time; then it is written. */
  function isDue(pods: SkippedPods, one: SkippedPod, at: number, wall = start): boolean {
    const due = pods.add(one, at, wall);
    if (due) pods.reported(one);
    return due;
  }

  for (const reason of skipReasons.filter((one) => one !== 'leaving')) {
    test(`comes within a minute, also if the reason changes meanwhile, and once: ${reason}`, () => {
      const pods = new SkippedPods();
      for (let at = 0; at < 58_000; at += 2000) isDue(pods, left('leaving'), at);
      assert.deepEqual(
        [58_000, 60_000].map((at) => isDue(pods, left(reason), at)),
        [true, false],
      );
    });
  }

  for (const reason of ['no-controller', 'ended', 'breaker'] as const) {
    test(`comes at once: ${reason}`, () => assert.ok(isDue(new SkippedPods(), left(reason), 0)));
  }

  test('comes after 45 s if the pod may be helped soon, and again for another reason', () => {
    const pods = new SkippedPods();
    const due = (reason: SkipReason, at: number): boolean => isDue(pods, left(reason), at);
    assert.deepEqual([due('node-not-ready', 0), due('node-not-ready', 44_999)], [false, false]);
    assert.deepEqual([due('node-not-ready', 45_000), due('owner-pause', 46_000)], [true, true]);
    assert.equal(due('node-not-ready', 47_000), false);
  });

  test('is one for all turns that the pod waits for', () => {
    const pods = new SkippedPods();
    const reasons = ['owner-turn', 'under-way', 'node-to-prove', 'budget'] as const;
    const due = reasons.filter((reason, index) => isDue(pods, left(reason), index * 60_000));
    assert.deepEqual(due, ['under-way']);
  });

  test('does not come where the pod ended long ago', () => {
    const ended = left('ended', { ended: true, at: start });
    assert.equal(isDue(new SkippedPods(), ended, 0, start + 600_001), false);
    assert.equal(isDue(new SkippedPods(), ended, 0, start + 600_000), true);
  });

  test('is forgotten with the pod, and its reason is not counted any more', () => {
    const pods = new SkippedPods();
    isDue(pods, left('no-controller'), 0);
    assert.deepEqual([...pods.counts], [['no-controller', 1]]);
    pods.forget('uid-a');
    assert.deepEqual([...pods.counts], []);
    assert.ok(isDue(pods, left('no-controller'), 1));
  });
});
