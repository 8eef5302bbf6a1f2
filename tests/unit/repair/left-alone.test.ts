import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LeftAlonePods } from '../../../webhook/repair/left-alone.ts';
import type { LeftAlone, LeftAloneReason } from '../../../webhook/repair/types.ts';
import { podEvidence, start } from '../evidence/support.ts';

const left = (uid: string, reason: LeftAloneReason): LeftAlone => ({
  pod: podEvidence({ uid, verdict: 'failed' }),
  reason,
  why: '',
});

const uidsOf = (due: readonly LeftAlone[]): string[] => due.map(({ pod }) => pod.uid);

test('a pod that nobody recreates is told of at once, one that may be recreated soon after a minute, each once', () => {
  const pods = new LeftAlonePods();
  const all = [left('bare', 'no-controller'), left('waits', 'node-not-ready'), left('turn', 'owner-turn')];
  assert.deepEqual(uidsOf(pods.update(all, 0, 10, start)), ['bare']);
  assert.deepEqual(uidsOf(pods.update(all, 59_999, 10, start)), []);
  assert.deepEqual(uidsOf(pods.update(all, 60_000, 10, start)), ['waits']);
  assert.deepEqual(uidsOf(pods.update(all, 600_000, 10, start)), []);
  assert.deepEqual([...pods.counts.values()], [1, 1, 1]);
});

test('another reason is told of again, and its minute begins anew', () => {
  const pods = new LeftAlonePods();
  pods.update([left('a', 'node-not-ready')], 0, 10, start);
  assert.deepEqual(uidsOf(pods.update([left('a', 'owner-pause')], 60_000, 10, start)), []);
  assert.deepEqual(uidsOf(pods.update([left('a', 'owner-pause')], 120_000, 10, start)), ['a']);
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

test('a pod that has waited for its turn for 15 minutes is told of once, whatever turn that was', () => {
  const pods = new LeftAlonePods();
  pods.update([left('a', 'owner-turn')], 0, 10, start);
  pods.update([left('a', 'under-way')], 300_000, 10, start);
  pods.update([left('a', 'node-to-prove')], 600_000, 10, start);
  assert.deepEqual(uidsOf(pods.update([left('a', 'budget')], 900_000, 10, start)), []);
  assert.deepEqual(uidsOf(pods.update([left('a', 'node-to-prove')], 900_001, 10, start)), ['a']);
  assert.deepEqual(uidsOf(pods.update([left('a', 'owner-turn')], 1_800_000, 10, start)), []);
});
