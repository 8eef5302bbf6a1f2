import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { History } from '../../../webhook/steer/history.ts';
import type { PendingPod } from '../../../webhook/steer/pending-pod.ts';
import { byUid, now, waiting } from './support.ts';

const seconds = 1000;
/** How a node found, and how it found where something has changed there. */
const [fingerprint, another] = ['as it was', 'otherwise'];
const pod = waiting('web');
const after = (version: string, nominated = ''): PendingPod => ({ ...pod, version, nominated });
const outcomes = (history: History, at: number, ...pods: PendingPod[]): string[] =>
  history.observe(byUid(...pods), at).map(({ outcome }) => outcome);

/** A pod that was nominated for n2 now; its version with that is 20. */
function nominated(): History {
  const history = new History();
  history.made({ pod, node: 'n2', fingerprint }, '20', now);
  return history;
}

suite('what comes of a nomination', () => {
  const later = now + 5 * seconds;
  const cases: [what: string, at: number, pods: PendingPod[], expected: string[]][] = [
    ['nothing yet, where the pod is seen with it', later, [after('20', 'n2')], []],
    ['nothing yet, where the pod is seen as it was before', later, [pod], []],
    ['left, where the pod does not wait any more', later, [], ['left']],
    ['left, where the pod is being deleted', later, [{ ...after('21', 'n2'), leaving: true }], ['left']],
    ['ignored, where it was cleared', later, [after('21')], ['ignored']],
    ['raced, where it was cleared at once', now + seconds, [after('21')], ['raced']],
    ['replaced, where another is there', later, [after('21', 'n3')], ['replaced']],
    ['expired, where nobody does anything', now + 61 * seconds, [after('20', 'n2')], ['expired']],
    ['expired, where the pod is never seen with it', now + 61 * seconds, [pod], ['expired']],
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
    history.made({ pod, node: 'n2', fingerprint }, '99', now);
    assert.deepEqual(outcomes(history, later, after('100')), ['ignored']);
  });
});

suite('after a nomination that was ignored', () => {
  const other = waiting('other');
  const alone = waiting('alone', { group: 'alone' });

  test('its pod and those of its group pause, each time for longer, and others do not', () => {
    const history = new History();
    let at = now;
    const pauses = [];
    for (let round = 0; round < 7; round += 1) {
      history.made({ pod, node: `n${round}`, fingerprint }, `${20 + 2 * round}`, at);
      at += 5 * seconds;
      assert.deepEqual(outcomes(history, at, after(`${21 + 2 * round}`), other, alone), ['ignored']);
      pauses.push((history.notBefore(pod) - at) / seconds);
      assert.equal(history.notBefore(other), history.notBefore(pod));
      assert.ok(history.notBefore(alone) <= at);
      at = history.notBefore(pod);
    }
    assert.deepEqual(pauses, [10, 20, 40, 80, 160, 300, 300]);
  });

  test('its node is avoided, for that pod', () => {
    const history = nominated();
    const at = now + 5 * seconds;
    outcomes(history, at, after('21'), other);
    const avoids = (
      who: PendingPod,
      node: string,
      after: number,
      found: string | undefined = another,
    ): boolean => history.avoids(who, node, () => found, at + after * seconds);
    assert.deepEqual(
      [avoids(pod, 'n2', 599), avoids(pod, 'n3', 0), avoids(other, 'n2', 0)],
      [true, false, false],
    );
    assert.deepEqual(
      [avoids(pod, 'n2', 600, fingerprint), avoids(pod, 'n2', 86_400, fingerprint)],
      [true, true],
      'nothing has changed there',
    );
    assert.equal(avoids(pod, 'n2', 600), false, 'something has');
    assert.equal(
      history.avoids(pod, 'n2', () => undefined, at + 600 * seconds),
      false,
      'it has to be asked about first',
    );
  });

  test('one that may have raced with a try is made once more', () => {
    const history = nominated();
    assert.deepEqual(outcomes(history, now + 500, after('21')), ['raced']);
    assert.ok(history.notBefore(pod) <= now && !history.avoids(pod, 'n2', () => fingerprint, now));
    history.made({ pod, node: 'n2', fingerprint }, '22', now + 500);
    assert.deepEqual(outcomes(history, now + 900, after('23')), ['ignored']);
    assert.ok(history.avoids(pod, 'n2', () => another, now + 900));
  });

  test('one that came to another end pauses its pod alone', () => {
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

  test('its group pauses to the end, whoever of it waits meanwhile, and is then forgotten', () => {
    const history = nominated();
    const at = now + 5 * seconds;
    outcomes(history, at, after('21'));
    outcomes(history, at + seconds);
    assert.equal(history.notBefore(other), at + 10 * seconds);
    outcomes(history, at + 10 * seconds);
    assert.ok(history.notBefore(other) <= now);
    // the next pause is a first one again
    history.made({ pod: other, node: 'n2', fingerprint }, '30', at + 20 * seconds);
    outcomes(history, at + 25 * seconds, { ...other, version: '31' });
    assert.equal(history.notBefore(pod), at + 35 * seconds);
  });

  test('many that are ignored together are one failure of the group', () => {
    const wave = Array.from({ length: 50 }, (_, index) => waiting(`wave-${index}`));
    const history = new History();
    for (const one of wave) history.made({ pod: one, node: 'n2', fingerprint }, '20', now);
    const at = now + 5 * seconds;
    outcomes(history, at, ...wave.map((one) => ({ ...one, version: '21' })));
    assert.equal(history.notBefore(waiting('another')), at + 10 * seconds);
  });

  test('one that works while the group pauses ends the pause', () => {
    const history = nominated();
    history.made({ pod: other, node: 'n3', fingerprint }, '20', now);
    const at = now + 5 * seconds;
    outcomes(history, at, after('21'), other);
    assert.equal(history.notBefore(waiting('third')), at + 10 * seconds);
    outcomes(history, at + seconds, after('21'));
    assert.ok(history.notBefore(waiting('third')) <= now);
    assert.equal(history.notBefore(pod), at + 10 * seconds, 'its own pause stays');
  });

  test('one that worked ends the pauses of the group', () => {
    const history = nominated();
    outcomes(history, now + 5 * seconds, after('21'), other);
    const at = now + 20 * seconds;
    history.made({ pod: other, node: 'n2', fingerprint }, '30', at);
    outcomes(history, at + seconds, after('21'));
    history.made({ pod: other, node: 'n3', fingerprint }, '40', at + 2 * seconds);
    outcomes(history, at + 7 * seconds, after('21'), { ...other, version: '41' });
    assert.equal(history.notBefore(waiting('third')), at + 17 * seconds);
  });
});

test('nominations that are open narrow their own group, and no other', () => {
  const [guess, mate] = [waiting('guess', { unverifiable: true }), waiting('mate', { unverifiable: true })];
  const history = new History();
  history.made({ pod: guess, node: 'n2', fingerprint }, '20', now);
  assert.deepEqual([history.width(mate), history.width({ ...mate, group: 'other' })], [0, 1]);
});

suite('what is remembered', () => {
  test('a pod that left counts on its node for a while', () => {
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

  test('a pod that was not as it was seen is left alone until it is seen anew', () => {
    const history = new History();
    history.stale(pod);
    assert.deepEqual([history.isBusy(pod), history.isBusy(after('11'))], [true, false]);
  });

  test('a pod that could not be nominated pauses', () => {
    const history = new History();
    history.failed(pod, now);
    assert.equal(history.notBefore(pod), now + 10 * seconds);
  });
});
