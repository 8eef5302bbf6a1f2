import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { PendingPod } from '../../../../webhook/core/facts/pending-pod.ts';
import { Nominations } from '../../../../webhook/leader/steering/nominations.ts';
import { now, waiting } from './support.ts';

const web = waiting('web');
const nominated = { ...web, nominated: 'n2', version: '11' };

suite('a nomination ends', () => {
  const cases: [what: string, pods: PendingPod[], after: number, outcome: string | undefined][] = [
    ['not while the watch has not reported it', [web], 5000, undefined],
    ['not while it stands', [nominated], 5000, undefined],
    ['when the pod no longer waits', [], 5000, 'left'],
    ['when the pod is being deleted', [{ ...web, leaving: true }], 5000, 'left'],
    ['when the scheduler clears it', [{ ...web, version: '12' }], 5000, 'ignored'],
    ['when another one is written', [{ ...nominated, nominated: 'n3' }], 5000, 'ignored'],
    ['when nothing happens for a minute', [nominated], 60_001, 'ignored'],
  ];
  for (const [what, pods, after, outcome] of cases) {
    test(`${what}: ${outcome ?? 'open'}`, () => {
      const nominations = new Nominations();
      nominations.add(web, 'n2', now);
      const { ended, backOff } = nominations.settle(web.key, pods, now + after);
      assert.deepEqual([ended[0]?.outcome, backOff], [outcome, outcome === 'ignored']);
      assert.equal(nominations.isOpen(web), outcome === undefined);
      assert.deepEqual(nominations.settle(web.key, pods, now + after).ended, [], 'it is told once');
    });
  }
});

test('of pods that only the scheduler can judge, one is nominated, and one more for each success', () => {
  const nominations = new Nominations();
  const pods = ['a', 'b', 'c', 'd'].map((name) => waiting(name));
  const [a, b, c, d] = pods as [PendingPod, PendingPod, PendingPod, PendingPod];
  const windows = [nominations.window(web.key)];
  const settle = (some: PendingPod[], left: PendingPod[]): boolean => {
    for (const pod of some) nominations.add(pod, 'n2', now);
    windows.push(nominations.window(web.key));
    const { backOff } = nominations.settle(web.key, left, now);
    windows.push(nominations.window(web.key));
    return backOff;
  };
  settle([a], [b, c, d]);
  settle([b, c], [d]);
  assert.equal(settle([d], [{ ...d, version: '12' }]), false, 'others worked before');
  assert.equal(settle([d], [{ ...d, version: '14' }]), true);
  assert.deepEqual(windows, [1, 0, 2, 0, 4, 3, 1, 0, 1]);
});
