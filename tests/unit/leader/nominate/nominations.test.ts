import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Nominations } from '../../../../webhook/leader/nominate/nominations.ts';
import type { PendingPod } from '../../../../webhook/leader/nominate/pending-pod.ts';
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
    ['when another one is written', [{ ...nominated, nominated: 'n3' }], 5000, 'replaced'],
    ['when nothing happens for a minute', [nominated], 60_001, 'ignored'],
  ];
  for (const [what, pods, after, outcome] of cases) {
    test(`${what}: ${outcome ?? 'open'}`, () => {
      const nominations = new Nominations();
      nominations.add(web, 'n2', now);
      assert.equal(nominations.settle(web.key, pods, now + after)[0]?.outcome, outcome);
      assert.equal(nominations.isOpen(web), outcome === undefined);
      assert.deepEqual(nominations.settle(web.key, pods, now + after), [], 'it is told once');
    });
  }
});
