import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ClusterError } from '../../../webhook/cluster/errors.ts';
import {
  type Action,
  defaultTiming,
  type End,
  endBy,
  Retry,
} from '../../../webhook/cluster/informer/retry.ts';

const answered = (status: number, retryAfter?: number): ClusterError =>
  new ClusterError('CNI_GATE_CLUSTER_BUSY', 'x', { status, retryAfter });
const noAnswer = new ClusterError('CNI_GATE_CLUSTER_UNREACHABLE', 'x', {});
const failed = (error: unknown, served = false): End => endBy(error, served);

/** What follows when the ends of watches come one after the other, at the longest waits. */
function after(ends: End[], during: Action = 'watch') {
  const retry = new Retry(defaultTiming, () => 1);
  const steps = ends.map((end) => retry.next(during, end));
  return { waits: steps.map(({ wait }) => wait), actions: steps.map(({ action }) => action) };
}

const times = (count: number, end: End): End[] => Array.from({ length: count }, () => end);

suite('what an informer does next', () => {
  test('a failed watch resumes after growing waits; after four failures everything is listed', () => {
    const { waits, actions } = after(times(7, failed(noAnswer)));
    assert.deepEqual(waits, [250, 500, 1000, 2000, 4000, 8000, 8000]);
    assert.deepEqual(actions, ['watch', 'watch', 'watch', 'list', 'list', 'list', 'list']);
  });

  test('a busy API server gets no lists in place of watches, and its Retry-After is followed up to 30 s', () => {
    assert.deepEqual(new Set(after(times(8, failed(answered(503)))).actions), new Set(['watch']));
    assert.deepEqual(
      after([failed(answered(429, 5000)), failed(answered(429, 90_000))]).waits,
      [5000, 30_000],
    );
  });

  test('lists that work before watches that fail do not loop without a wait', () => {
    const { waits } = after([failed(noAnswer), { reason: 'listed' }, failed(noAnswer), { reason: 'listed' }]);
    assert.deepEqual(waits, [250, 0, 500, 0]);
  });

  test('a watch that worked resets the waits', () => {
    assert.deepEqual(after([...times(3, failed(noAnswer)), failed(noAnswer, true)]).waits.at(-1), 250);
    assert.deepEqual(after([failed(noAnswer), { reason: 'ended' }, failed(noAnswer)]).waits, [250, 0, 250]);
  });

  test('a silent watch is reopened at once, and one that ends at once is not', () => {
    assert.deepEqual(after(times(4, { reason: 'silent' })), {
      waits: [0, 500, 1000, 2000],
      actions: ['watch', 'watch', 'watch', 'list'],
    });
    assert.deepEqual(after([{ reason: 'dropped' }]), { waits: [250], actions: ['watch'] });
  });

  test('waits lie between half of the bound and the whole', () => {
    const retry = new Retry(defaultTiming, () => 0);
    assert.equal(retry.next('watch', failed(noAnswer)).wait, 125);
  });
});
