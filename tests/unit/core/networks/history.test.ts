import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { crashLoop, ended, Kubelet, running, type Written } from './kubelet.ts';

suite('a pod that failed', () => {
  const failed: Written = { ours: { state: ended(95, 1) } };
  const nothing: [what: string, ours: Written['ours']][] = [
    ['a check could not be made', { state: ended(69, 20), lastState: ended(95, 1) }],
    ['the same, and it waits', { state: crashLoop, lastState: ended(69, 20) }],
    ['it was stopped', { state: running(40), lastState: ended(137, 20) }],
    ['it could not be started', { state: crashLoop, lastState: ended(128, 20) }],
  ];
  for (const [what, ours = {}] of nothing) {
    test(`stays failed in its sandbox, although a later run shows no verdict: ${what}`, () => {
      const kubelet = new Kubelet();
      kubelet.writes(1, 'a', { from: 1 });
      kubelet.writes(11, 'a', failed);
      const { version: failedVersion, ...before } = kubelet.pod('a');
      kubelet.writes(40, 'a', { ours });
      const { version, ...now } = kubelet.pod('a');
      assert.equal(now.verdict, 'failed');
      assert.deepEqual({ ...now, run: before.run }, before);
      assert.ok(version > failedVersion, 'a deletion names the current version');
    });
  }

  test('does not stay failed in another sandbox, with another controller, or if it passes', () => {
    const cases: [shown: Written, expected: string][] = [
      [{ sandbox: 15, ours: { state: running(20) } }, 'waiting'],
      [{ sandbox: 15, ours: { state: ended(69, 20) } }, 'not-possible'],
      [{ owner: '', ours: { state: ended(69, 20) } }, 'not-possible'],
      [{ ours: { state: ended(0, 20) } }, 'passed'],
    ];
    for (const [shown, expected] of cases) {
      const kubelet = new Kubelet();
      kubelet.writes(11, 'a', failed);
      assert.equal(kubelet.writes(40, 'a', shown), expected);
    }
  });
});

suite('a witness that runs again, on a node that has booted', () => {
  function scene(): Kubelet {
    const kubelet = new Kubelet();
    kubelet.starts(0, 'a');
    kubelet.boots();
    return kubelet;
  }

  test('is no new proof in its sandbox, although nothing else runs there', () => {
    const kubelet = scene();
    for (const started of [false, true]) kubelet.writes(20, 'a', { from: 20, started });
    assert.equal(kubelet.isProved, false);
  });

  test('is no new proof for a process that has not seen the first run', () => {
    const kubelet = new Kubelet();
    for (const started of [false, true]) kubelet.writes(20, 'a', { from: 20, started, main: 5 });
    assert.equal(kubelet.isProved, false);
  });

  test('is a new proof in another sandbox', () => {
    const kubelet = scene();
    kubelet.starts(31, 'a');
    assert.equal(kubelet.isProved, true);
  });
});
