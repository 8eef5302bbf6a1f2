import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { History } from '../../../webhook/steer/history.ts';
import type { PendingPod } from '../../../webhook/steer/pending-pod.ts';
import { byUid, now, waiting } from './support.ts';

const seconds = 1000;
const pod = waiting('web');
const after = (version: string, nominated = ''): PendingPod => ({ ...pod, version, nominated });
const outcomes = (history: History, at: number, ...pods: PendingPod[]): string[] =>
  history.observe(byUid(...pods), at).map(({ outcome }) => outcome);

/** A pod that was nominated for n2 now, with version 20. */
function nominated(): History {
  const history = new History();
  history.made({ pod, node: 'n2' }, '20', now);
  return history;
}

suite('the outcome of a nomination', () => {
  const later = now + 5 * seconds;
  const cases: [what: string, at: number, pods: PendingPod[], expected: string[]][] = [
    ['none yet, where the pod has it', later, [after('20', 'n2')], []],
    ['none yet, where the watch reports the pod without it', later, [pod], []],
    ['left, where the pod no longer waits', later, [], ['left']],
    ['left, where the pod is being deleted', later, [{ ...after('21', 'n2'), leaving: true }], ['left']],
    ['ignored, where it was cleared', later, [after('21')], ['ignored']],
    ['raced, where it was cleared within a second', now + seconds, [after('21')], ['raced']],
    ['replaced, where another is there', later, [after('21', 'n3')], ['replaced']],
    ['expired, where nobody reacts for a minute', now + 61 * seconds, [after('20', 'n2')], ['expired']],
    ['expired, where the watch never reports it', now + 61 * seconds, [pod], ['expired']],
  ];
  for (const [what, at, pods, expected] of cases) {
    test(what, () => {
      const history = nominated();
      assert.deepEqual(outcomes(history, at, ...pods), expected);
      assert.deepEqual(outcomes(history, at, ...pods), [], 'and only once');
    });
  }

  test('versions are compared as numbers', () => {
    const history = new History();
    history.made({ pod, node: 'n2' }, '99', now);
    assert.deepEqual(outcomes(history, later, after('100')), ['ignored']);
  });
});

suite('after an ignored nomination', () => {
  const other = waiting('other');
  const alone = waiting('alone', { group: 'alone' });

  test('its pod and its group pause, each time for longer, and other pods do not', () => {
    const history = new History();
    let at = now;
    const pauses = [];
    for (let round = 0; round < 7; round += 1) {
      history.made({ pod, node: `n${round}` }, `${20 + 2 * round}`, at);
      at += 5 * seconds;
      assert.deepEqual(outcomes(history, at, after(`${21 + 2 * round}`), other, alone), ['ignored']);
      pauses.push((history.notBefore(pod) - at) / seconds);
      assert.equal(history.notBefore(other), history.notBefore(pod));
      assert.ok(history.notBefore(alone) <= at);
      at = history.notBefore(pod);
    }
    assert.deepEqual(pauses, [10, 20, 40, 80, 160, 300, 300]);
  });

  test('the pod avoids that node for ten minutes, and other pods do not', () => {
    const history = nominated();
    const at = now + 5 * seconds;
    outcomes(history, at, after('21'), other);
    const avoids = (who: PendingPod, node: string, after: number): boolean =>
      history.avoids(who, node, at + after * seconds);
    assert.deepEqual(
      [avoids(pod, 'n2', 599), avoids(pod, 'n3', 0), avoids(other, 'n2', 0), avoids(pod, 'n2', 600)],
      [true, false, false, false],
    );
  });

  test('a nomination that may have raced with an attempt is made once more', () => {
    const history = nominated();
    assert.deepEqual(outcomes(history, now + 500, after('21')), ['raced']);
    assert.ok(history.notBefore(pod) <= now && !history.avoids(pod, 'n2', now));
    history.made({ pod, node: 'n2' }, '22', now + 500);
    assert.deepEqual(outcomes(history, now + 900, after('23')), ['ignored']);
    assert.ok(history.avoids(pod, 'n2', now + 900));
  });

  test('a nomination with another outcome pauses its pod only', () => {
    for (const [at, pod, outcome] of [
      [now + 5 * seconds, after('21', 'n3'), 'replaced'],
      [now + 61 * seconds, after('20', 'n2'), 'expired'],
    ] as const) {
      const history = nominated();
      assert.deepEqual(outcomes(history, at, pod, other), [outcome]);
      assert.equal(history.notBefore(pod), at + 10 * seconds);
      assert.ok(history.notBefore(other) <= at);
    }
  });

  test('its group pauses to the end, even if none of its pods waits, and is then forgotten', () => {
    const history = nominated();
    const at = now + 5 * seconds;
    outcomes(history, at, after('21'));
    outcomes(history, at + seconds);
    assert.equal(history.notBefore(other), at + 10 * seconds);
    outcomes(history, at + 10 * seconds);
    assert.ok(history.notBefore(other) <= now);
    // the next pause is a first one again
    history.made({ pod: other, node: 'n2' }, '30', at + 20 * seconds);
    outcomes(history, at + 25 * seconds, { ...other, version: '31' });
    assert.equal(history.notBefore(pod), at + 35 * seconds);
  });

  test('nominations that are ignored together count as one failure of the group', () => {
    const wave = Array.from({ length: 50 }, (_, index) => waiting(`wave-${index}`));
    const history = new History();
    for (const one of wave) history.made({ pod: one, node: 'n2' }, '20', now);
    const at = now + 5 * seconds;
    outcomes(history, at, ...wave.map((one) => ({ ...one, version: '21' })));
    assert.equal(history.notBefore(waiting('another')), at + 10 * seconds);
  });

  test('a nomination that works during a pause ends the pause of the group', () => {
    const history = nominated();
    history.made({ pod: other, node: 'n3' }, '20', now);
    const at = now + 5 * seconds;
    outcomes(history, at, after('21'), other);
    assert.equal(history.notBefore(waiting('third')), at + 10 * seconds);
    outcomes(history, at + seconds, after('21'));
    assert.ok(history.notBefore(waiting('third')) <= now);
    assert.equal(history.notBefore(pod), at + 10 * seconds, 'its own pause stays');
  });

  test('a nomination that works resets the pauses of the group', () => {
    const history = nominated();
    outcomes(history, now + 5 * seconds, after('21'), other);
    const at = now + 20 * seconds;
    history.made({ pod: other, node: 'n2' }, '30', at);
    outcomes(history, at + seconds, after('21'));
    history.made({ pod: other, node: 'n3' }, '40', at + 2 * seconds);
    outcomes(history, at + 7 * seconds, after('21'), { ...other, version: '41' });
    assert.equal(history.notBefore(waiting('third')), at + 17 * seconds);
  });
});

test('an open nomination counts in its own group only', () => {
  const [first, mate] = [waiting('first', { unverifiable: true }), waiting('mate', { unverifiable: true })];
  const history = new History();
  history.made({ pod: first, node: 'n2' }, '20', now);
  assert.deepEqual([history.width(mate), history.width({ ...mate, group: 'other' })], [0, 1]);
});

suite('the history', () => {
  test('counts a pod that left on its node for 30 s', () => {
    const history = nominated();
    assert.deepEqual(history.expected().get('n2')?.[0]?.leftAt, undefined);
    outcomes(history, now + seconds);
    assert.deepEqual(
      history
        .expected()
        .get('n2')
        ?.map(({ uid, leftAt }) => [uid, leftAt]),
      [[pod.uid, now + seconds]],
    );
    outcomes(history, now + 31 * seconds);
    assert.equal(history.expected().size, 0);
  });

  test('a pod with a known outdated version is busy until the watch reports a newer one', () => {
    const history = new History();
    history.stale(pod);
    assert.deepEqual([history.isBusy(pod), history.isBusy(after('11'))], [true, false]);
  });

  test('a pod whose nomination could not be written pauses for 10 s', () => {
    const history = new History();
    history.failed(pod, now);
    assert.equal(history.notBefore(pod), now + 10 * seconds);
  });
});
