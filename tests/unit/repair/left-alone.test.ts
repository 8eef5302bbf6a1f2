import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LeftAlonePods } from '../../../webhook/repair/left-alone.ts';
import { type LeftAlone, type LeftAloneReason, leftAloneReasons } from '../../../webhook/repair/types.ts';
import { podEvidence, start } from '../evidence/support.ts';

const left = (uid: string, reason: LeftAloneReason): LeftAlone => ({
  pod: podEvidence({ uid, verdict: 'failed' }),
  reason,
  why: '',
});

const uidsOf = (due: readonly LeftAlone[]): string[] => due.map(({ pod }) => pod.uid);

test('a pod that nobody recreates is told of at once, and any other within a minute, each once', () => {
  const pods = new LeftAlonePods();
  const all = [left('bare', 'no-controller'), left('waits', 'node-not-ready'), left('turn', 'owner-turn')];
  assert.deepEqual(uidsOf(pods.update(all, 0, 10, start)), ['bare']);
  assert.deepEqual(uidsOf(pods.update(all, 44_999, 10, start)), []);
  assert.deepEqual(uidsOf(pods.update(all, 45_000, 10, start)), ['waits', 'turn']);
  assert.deepEqual(uidsOf(pods.update(all, 600_000, 10, start)), []);
  assert.deepEqual([...pods.counts.values()], [1, 1, 1]);
});

for (const reason of leftAloneReasons.filter((one) => one !== 'leaving')) {
  test(`a pod that is left alone is told of within a minute, also if the reason changes meanwhile: ${reason}`, () => {
    const pods = new LeftAlonePods();
    for (let at = 0; at < 58_000; at += 2000)
      pods.update([left('a', at % 4000 === 0 ? 'leaving' : 'under-way')], at, 0, start);
    assert.deepEqual(uidsOf(pods.update([left('a', reason)], 58_000, 10, start)), ['a']);
  });
}

test('another reason is told of again, once', () => {
  const pods = new LeftAlonePods();
  const told = (reason: LeftAloneReason, at: number): string[] =>
    uidsOf(pods.update([left('a', reason)], at, 10, start));
  assert.deepEqual(told('node-not-ready', 0), []);
  assert.deepEqual(told('node-not-ready', 60_000), ['a']);
  assert.deepEqual(told('owner-pause', 62_000), ['a']);
  assert.deepEqual(told('node-not-ready', 64_000), []);
});

test('that repair has stopped is told at once', () => {
  const pods = new LeftAlonePods();
  pods.update([left('a', 'node-not-ready')], 0, 10, start);
  assert.deepEqual(uidsOf(pods.update([left('a', 'breaker')], 1, 10, start)), ['a']);
});

test('a pod that ended is told of at once, but not if it ended long ago', () => {
  const pods = new LeftAlonePods();
  const ended: LeftAlone = { ...left('a', 'ended'), pod: podEvidence({ uid: 'a', ended: true }) };
  assert.deepEqual(uidsOf(pods.update([ended], 0, 10, start + 600_001)), []);
  assert.deepEqual(uidsOf(new LeftAlonePods().update([ended], 0, 10, start + 600_000)), ['a']);
});

test('pods for which there was no room are told of later', () => {
  const pods = new LeftAlonePods();
  const all = [left('a', 'no-controller'), left('b', 'no-controller')];
  assert.deepEqual(uidsOf(pods.update(all, 0, 1, start)), ['a']);
  assert.deepEqual(uidsOf(pods.update(all, 1, 1, start)), ['b']);
});

test('a pod that is recreated is forgotten', () => {
  const pods = new LeftAlonePods();
  pods.update([left('a', 'no-controller')], 0, 10, start);
  pods.update([], 1, 10, start);
  assert.deepEqual([...pods.counts], []);
  assert.deepEqual(uidsOf(pods.update([left('a', 'no-controller')], 2, 10, start)), ['a']);
});

test('a pod that waits for its turn is told of once, whatever turn that is', () => {
  const pods = new LeftAlonePods();
  const reasons = ['owner-turn', 'under-way', 'node-to-prove', 'budget', 'owner-turn'] as const;
  const due = reasons.flatMap((reason, index) => pods.update([left('a', reason)], index * 60_000, 10, start));
  assert.deepEqual(
    due.map(({ reason }) => reason),
    ['under-way'],
  );
});
