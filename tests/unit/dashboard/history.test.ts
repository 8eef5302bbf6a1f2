import assert from 'node:assert/strict';
import { test } from 'node:test';
import { History } from '../../../webhook/dashboard/history.ts';
import type { PodEvidence } from '../../../webhook/evidence/facts.ts';
import { dashboardLimits } from '../../../webhook/lib/limits.ts';
import type { PodFacts } from '../../../webhook/status/facts.ts';
import type { FailedPod } from '../../../webhook/status/model.ts';
import { now } from '../readiness/objects.ts';
import { evidenceOf } from '../status/objects.ts';

const minute = 60_000;
const at = (minutes: number): number => now / minute - minutes;

const podOf = (name: string, more: Partial<PodEvidence>): PodFacts => ({
  namespace: 'shop',
  name,
  proof: 'passed',
  evidence: evidenceOf(name, more),
});

const failedPod = (name: string, repair: string | null): FailedPod => ({
  namespace: 'shop',
  name,
  node: 'n1',
  verdict: 'failed',
  since: '2026-11-21T11:59:00Z',
  why: '',
  repair,
});

test('proofs are counted by the minute in which they ended, each once', () => {
  const history = new History();
  const pods = [
    podOf('a', { at: now - 5 * minute }),
    podOf('b', { at: now - 5 * minute }),
    podOf('c', { at: now - 2 * minute, verdict: 'failed' }),
    podOf('d', { at: now - minute, verdict: 'crashed' }),
    podOf('e', { at: now, verdict: 'waiting' }),
  ];
  history.observe(pods, [], now);
  history.observe(pods, [], now);
  assert.deepEqual(history.proofs(), [
    [at(5), 2, 0],
    [at(2), 0, 1],
    [at(1), 0, 1],
  ]);
});

test('a proof stays counted when its pod is gone, and a new proof of the same pod counts again', () => {
  const history = new History();
  history.observe([podOf('a', { at: now - 3 * minute, verdict: 'failed' })], [], now);
  history.observe([], [], now);
  history.observe([podOf('a', { at: now - minute })], [], now);
  assert.deepEqual(history.proofs(), [
    [at(3), 0, 1],
    [at(1), 1, 0],
  ]);
});

test('proofs of more than a day ago are left out, and a clock that is ahead counts as now', () => {
  const history = new History();
  history.observe(
    [podOf('a', { at: now - dashboardLimits.proofs - 1 }), podOf('b', { at: now + 9 * minute })],
    [],
    now,
  );
  assert.deepEqual(history.proofs(), [[at(0), 1, 0]]);
  history.observe([], [], now + dashboardLimits.proofs + minute);
  assert.deepEqual(history.proofs(), []);
});

test('what repair said stays when the pod is gone, and its last word counts', () => {
  const history = new History();
  history.observe([], [failedPod('a', 'it waits'), failedPod('b', null)], now);
  history.observe([], [failedPod('a', 'it is deleted to be recreated')], now + minute);
  history.observe([], [], now + 2 * minute);
  const seen = '2026-11-21T12:00:00Z';
  assert.deepEqual(history.repairs(), [
    { pod: 'shop/a', node: 'n1', seen, note: 'it is deleted to be recreated', gone: true },
  ]);
});

test('of repairs the latest are kept', () => {
  const history = new History();
  const failed = Array.from({ length: dashboardLimits.repairs + 5 }, (_, index) =>
    failedPod(`p${index}`, 'deleted'),
  );
  history.observe([], failed, now);
  assert.equal(history.repairs().length, dashboardLimits.repairs);
  assert.equal(history.repairs()[0]?.pod, `shop/p${dashboardLimits.repairs + 4}`);
});

test('repairs that events tell of are known from the start, but not those of pods that exist', () => {
  const history = new History();
  const event = (name: string, minutes: number) => ({
    namespace: 'shop',
    name,
    node: 'n1',
    at: now - minutes * minute,
    note: 'it is deleted',
  });
  history.begin([event('a', 20), event('b', 10), event('c', 5)], [failedPod('b', null)]);
  history.observe([], [failedPod('d', 'it waits')], now);
  history.observe([], [], now);
  assert.deepEqual(
    history.repairs().map(({ pod, seen, gone }) => [pod, seen, gone]),
    [
      ['shop/d', '2026-11-21T12:00:00Z', true],
      ['shop/c', '2026-11-21T11:55:00Z', true],
      ['shop/a', '2026-11-21T11:40:00Z', true],
    ],
  );
});
