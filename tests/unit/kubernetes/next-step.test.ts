import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ClusterError } from '../../../webhook/kubernetes/errors.ts';
import {
  beginning,
  defaultTiming,
  nextStep,
  type Outcome,
  type Progress,
  type Step,
  waitAfter,
  watchSeconds,
} from '../../../webhook/kubernetes/reflector/next-step.ts';
import { Garbage } from '../../../webhook/kubernetes/reflector/source.ts';

const step = (outcome: Outcome, progress: Progress = beginning): Step =>
  nextStep(progress, outcome, defaultTiming, 1);
const answered = (status: number, retryAfter?: number): ClusterError =>
  new ClusterError('CNI_GATE_CLUSTER_BUSY', 'x', { status, retryAfter });
const noAnswer = new ClusterError('CNI_GATE_CLUSTER_UNREACHABLE', 'x', {});
const failed = (during: 'list' | 'watch', error: unknown, served = false): Outcome => ({
  type: 'failed',
  during,
  served,
  error,
});

/** The steps when the same thing happens again and again. */
function again(outcome: Outcome, times: number): Step[] {
  const steps: Step[] = [];
  let progress = beginning;
  for (let n = 0; n < times; n += 1) {
    const next = step(outcome, progress);
    steps.push(next);
    ({ progress } = next);
  }
  return steps;
}

suite('the step after an outcome', () => {
  test('after a success the next step starts at once', () => {
    assert.deepEqual(step({ type: 'listed' }), {
      action: 'watch',
      wait: 0,
      reason: 'listed',
      progress: beginning,
    });
    const ended = step({ type: 'ended' }, { failures: 5, expiries: 2 });
    assert.deepEqual(ended, { action: 'watch', wait: 0, reason: 'ended', progress: beginning });
  });

  test('a failed watch resumes from its version after growing waits; after four failures everything is listed', () => {
    const steps = again(failed('watch', noAnswer), 8);
    assert.deepEqual(
      steps.map(({ wait }) => wait),
      [250, 500, 1000, 2000, 4000, 8000, 8000, 8000],
    );
    assert.deepEqual(
      steps.map(({ action }) => action),
      ['watch', 'watch', 'watch', 'list', 'list', 'list', 'list', 'list'],
    );
  });

  test('a busy API server gets no lists in place of watches', () => {
    const steps = again(failed('watch', answered(503)), 8);
    assert.deepEqual(new Set(steps.map(({ action }) => action)), new Set(['watch']));
  });

  test('Retry-After is followed, up to half a minute', () => {
    assert.equal(step(failed('watch', answered(429, 3000))).wait, 3000);
    assert.equal(step(failed('list', answered(429, 3_600_000))).wait, 30_000);
    assert.equal(step(failed('list', answered(429, 1))).wait, 250);
  });

  test('a failed list is followed by a list', () => {
    assert.equal(step(failed('list', noAnswer)).action, 'list');
    assert.equal(step(failed('list', answered(403))).action, 'list');
    assert.equal(step(failed('watch', answered(403))).action, 'watch');
  });

  test('a version that is expired, unknown or followed by garbage is listed again, not watched', () => {
    const expired = step(failed('watch', answered(410)));
    assert.deepEqual([expired.action, expired.reason], ['list', 'expired']);
    assert.equal(step(failed('watch', answered(400))).action, 'list');
    const garbage = step(failed('watch', new Garbage('x')));
    assert.deepEqual([garbage.action, garbage.reason], ['list', 'garbage']);
  });

  test('an expired version after an outage is no reason to wait longer; repeated ones are', () => {
    const outage: Progress = { failures: 9, expiries: 0 };
    const first = step(failed('watch', answered(410)), outage);
    assert.equal(first.wait, 250);
    const listed = step({ type: 'listed' }, first.progress);
    const second = step(failed('watch', answered(410)), listed.progress);
    assert.equal(second.wait, 500);
  });

  test('a list that works before a watch that fails never loops without a wait', () => {
    let progress = beginning;
    let wait = 0;
    for (let round = 0; round < 10; round += 1) {
      ({ progress } = step({ type: 'listed' }, progress));
      ({ progress, wait } = step(failed('watch', new Garbage('x')), progress));
    }
    assert.equal(wait, 8000);
  });

  test('a watch that had worked before it failed counts as the first failure', () => {
    assert.equal(step(failed('watch', noAnswer, true), { failures: 7, expiries: 0 }).wait, 250);
  });

  test('a watch that had worked also ends the count of versions that were too old; one that had not keeps it', () => {
    const before: Progress = { failures: 0, expiries: 3 };
    const waitAfterFailure = (served: boolean): number =>
      step(failed('watch', answered(410)), step(failed('watch', noAnswer, served), before).progress).wait;
    assert.equal(waitAfterFailure(true), 250);
    assert.equal(waitAfterFailure(false), 2000);
    assert.equal(step(failed('watch', answered(410), true), before).wait, 250);
  });

  test('a silent watch is retried at once the first time, and then like any failure', () => {
    const steps = again({ type: 'silent', served: false }, 5);
    assert.deepEqual(
      steps.map(({ wait }) => wait),
      [0, 500, 1000, 2000, 4000],
    );
    assert.equal(steps.at(-1)?.action, 'list');
  });

  test('silence after events counts as the first', () => {
    const { action, wait } = step({ type: 'silent', served: true }, { failures: 7, expiries: 0 });
    assert.deepEqual([action, wait], ['watch', 0]);
  });

  test('a watch that ends at once is not reopened at once', () => {
    assert.equal(step({ type: 'dropped' }).wait, 250);
    assert.equal(step({ type: 'dropped' }, { failures: 3, expiries: 0 }).wait, 2000);
  });
});

suite('waits', () => {
  test('waits lie between half of the bound and the whole', () => {
    assert.equal(waitAfter(1, defaultTiming, 0), 125);
    assert.equal(waitAfter(100, defaultTiming, 0), 4000);
    assert.equal(waitAfter(100, defaultTiming, 1), 8000);
  });

  test('watches are asked for in whole seconds, at least one', () => {
    assert.equal(watchSeconds(defaultTiming, 0), 15);
    assert.equal(watchSeconds(defaultTiming, 1), 20);
    assert.equal(watchSeconds({ ...defaultTiming, watch: 10 }, 0), 1);
  });

  test('labels are right within 30 s of recovery, whatever was running before', () => {
    const { watch, grace, answer, longestBackoff } = defaultTiming;
    const silentWatch = watch * (4 / 3) + grace;
    const tryInTheHole = answer + longestBackoff;
    assert.ok(Math.max(silentWatch, tryInTheHole) < 25_000, 'and some seconds for the list');
  });
});
