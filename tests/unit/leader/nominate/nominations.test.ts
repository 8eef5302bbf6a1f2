import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Nominations } from '../../../../webhook/leader/nominate/nominations.ts';
import type { PendingPod } from '../../../../webhook/leader/nominate/pending-pod.ts';
import { now, waiting } from './support.ts';

const web = waiting('web');
const minute = 60_000;

/** Nominations with one for web, written at `now` as version 11. */
function one(): Nominations {
  const nominations = new Nominations();
  nominations.add(web, 'n2', '11', now);
  return nominations;
}

suite('a nomination ends', () => {
  const cases: [what: string, pods: PendingPod[], after: number, outcome: string | undefined][] = [
    ['not while the watch has not reported it', [web], 5000, undefined],
    ['not while it stands', [{ ...web, nominated: 'n2', version: '11' }], 5000, undefined],
    ['when the pod no longer waits', [], 5000, 'left'],
    ['when the pod is being deleted', [{ ...web, leaving: true }], 5000, 'left'],
    ['when the scheduler clears it', [{ ...web, version: '12' }], 5000, 'raced'],
    ['when another one is written', [{ ...web, nominated: 'n3', version: '12' }], 5000, 'replaced'],
    [
      'when nothing happens for a minute',
      [{ ...web, nominated: 'n2', version: '11' }],
      minute + 1,
      'expired',
    ],
  ];
  for (const [what, pods, after, outcome] of cases) {
    test(`${what}: ${outcome ?? 'open'}`, () => {
      const nominations = one();
      const { ended } = nominations.settle(web.key, pods, now + after);
      assert.deepEqual(
        ended,
        outcome === undefined ? [] : [{ uid: 'web-uid', pod: 'shop/web', node: 'n2', outcome }],
      );
      assert.equal(nominations.isOpen(web), outcome === undefined);
      assert.deepEqual(nominations.settle(web.key, pods, now + after).ended, [], 'it is told once');
    });
  }

  test('by a race only once for a pod', () => {
    const nominations = one();
    const cleared = { ...web, version: '12' };
    nominations.settle(web.key, [cleared], now + 500);
    nominations.add(cleared, 'n2', '13', now + 600);
    const { ended, backOff } = nominations.settle(web.key, [{ ...web, version: '14' }], now + 700);
    assert.deepEqual([ended[0]?.outcome, backOff], ['ignored', true]);
  });
});

test('of pods that only the scheduler can judge, one nomination that is cleared counts as a race', () => {
  const nominations = new Nominations();
  const outcomes = ['a', 'b'].map((name) => {
    const pod = waiting(name, { unverifiable: true });
    nominations.add(pod, 'n2', '11', now);
    const { ended, backOff } = nominations.settle(pod.key, [{ ...pod, version: '12' }], now);
    return [ended[0]?.outcome, backOff];
  });
  assert.deepEqual(outcomes, [
    ['raced', false],
    ['ignored', true],
  ]);
});

test('of pods that only the scheduler can judge, one is nominated, and twice as many after each success', () => {
  const nominations = new Nominations();
  const pods = ['a', 'b', 'c', 'd'].map((name) => waiting(name));
  const [a, b, c, d] = pods as [PendingPod, PendingPod, PendingPod, PendingPod];
  assert.equal(nominations.window(web.key), 1);
  nominations.add(a, 'n2', '11', now);
  assert.equal(nominations.window(web.key), 0);
  nominations.settle(web.key, [b, c, d], now);
  assert.equal(nominations.window(web.key), 2);
  nominations.add(b, 'n2', '11', now);
  nominations.add(c, 'n2', '11', now);
  nominations.settle(web.key, [d], now);
  assert.equal(nominations.window(web.key), 8);
  nominations.add(d, 'n2', '11', now);
  nominations.settle(web.key, [{ ...d, version: '12' }], now);
  nominations.add(d, 'n2', '13', now);
  const ignored = (): boolean => nominations.settle(web.key, [{ ...d, version: '14' }], now).backOff;
  assert.equal(ignored(), false, 'others worked before');
  assert.equal(nominations.window(web.key), 1);
  nominations.add(d, 'n2', '13', now);
  assert.equal(ignored(), true);
});
