import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { ownerKey } from '../../../../webhook/core/facts/pod-evidence.ts';
import type { AskingPod } from '../../../../webhook/core/networks/proof-status.ts';
import { evidenceWith, Scene, seconds, start } from './support.ts';

const ready = { mode: 'ready' } as const;

suite('a node on which proofs fail', () => {
  test('fails if pods of two owners fail, in both modes', () => {
    const scene = new Scene();
    scene.runs(0, 'a', 'failed', { owner: 'web' });
    assert.equal(scene.says(4, ready), 'proved, lets');
    scene.runs(0, 'b', 'failed', { owner: 'db' });
    assert.equal(scene.says(4, ready), 'failing, holds');
    assert.equal(scene.says(4), 'failing, holds');
    assert.equal(
      scene.proof(4, ready).reason,
      'proofs say that the network does not work: pod shop/web-a failed, pod shop/db-b failed',
    );
  });

  test('does not fail with many pods of one owner, or with pods that crash or cannot make their check', () => {
    const scene = new Scene();
    for (let pod = 0; pod < 20; pod += 1) scene.runs(0, `web-${pod}`, 'failed');
    for (const verdict of ['crashed', 'not-possible', 'wrong-usage'] as const) {
      scene.runs(0, verdict, verdict, { owner: verdict });
    }
    assert.equal(scene.says(60, ready), 'proved, lets');
  });

  test('fails only for one owner after two of its attempts, until another pod passes there', () => {
    const scene = new Scene();
    const web = { ...ready, pod: { key: 'next', owner: 'web' } };
    scene.runs(0, 'a', 'failed');
    assert.equal(scene.says(20, web), 'proved, lets');
    scene.runs(20, 'b', 'failed');
    assert.equal(scene.says(24, web), 'failing, holds');
    assert.equal(scene.says(100, web), 'failing, holds', 'another node gets a pod that comes late');
    const held = { ...web.pod, heldSince: start + 88 * seconds };
    assert.equal(scene.says(99, { ...ready, pod: held }), 'failing, holds');
    assert.equal(scene.says(100, { ...ready, pod: held }), 'failing, lets');
    assert.equal(scene.says(24, { ...ready, pod: { key: 'x', owner: 'db' } }), 'proved, lets');
    scene.agentStarts(25);
    assert.equal(scene.says(26, web), 'proved, lets', "the DaemonSet's pod is new");
    scene.agentStarts(-1);
    scene.runs(30, 'c', 'passed', { owner: 'db' });
    assert.equal(scene.says(34, web), 'proved, lets');
  });

  test('stops failing after one success, whatever the clock of the node says', () => {
    const scene = new Scene();
    scene.shows(90, { uid: 'slow', owner: 'slow' });
    scene.runs(95, 'good', 'passed', { owner: 'good' });
    for (const owner of ['web', 'db']) scene.runs(100, owner, 'failed', { owner });
    assert.match(scene.says(104, ready), /^failing/);
    scene.shows(112, { uid: 'slow', owner: 'slow', verdict: 'passed', at: -5000 });
    assert.equal(scene.says(113, ready), 'proved, lets');
  });

  test('stops failing after a new container of the DaemonSet', () => {
    const scene = new Scene();
    scene.agentStarts(-10);
    for (const owner of ['web', 'db']) scene.runs(0, owner, 'failed', { owner });
    assert.match(scene.says(4, ready), /^failing/);
    scene.agentStarts(5);
    assert.equal(scene.says(6, ready), 'proved, lets');
    for (const owner of ['web', 'db']) scene.runs(20, `${owner}-2`, 'failed', { owner });
    assert.match(scene.says(24, ready), /^failing/);
  });

  test('a failure that began before the last success does not count', () => {
    const scene = new Scene();
    for (const owner of ['web', 'db']) scene.shows(0, { uid: owner, owner });
    scene.runs(1, 'good', 'passed', { owner: 'good' });
    for (const owner of ['web', 'db'])
      scene.shows(10, { uid: owner, owner, verdict: 'failed', startedAt: 0 });
    assert.equal(scene.says(11, ready), 'proved, lets');
  });

  test('a pod that fails repeatedly in one sandbox counts as one failure', () => {
    const scene = new Scene();
    for (const owner of ['web', 'db']) scene.runs(0, owner, 'failed', { owner, version: 7 });
    scene.runs(10, 'good', 'passed', { owner: 'good' });
    for (let at = 20; at < 200; at += 20) {
      for (const owner of ['web', 'db']) scene.shows(at, { uid: owner, owner, verdict: 'failed' });
    }
    assert.equal(scene.says(200, ready), 'proved, lets');
    const { at, failedVersion } = scene.evidence.pod('web') ?? {};
    assert.deepEqual([at, failedVersion], [start + 3 * seconds, '7']);
  });

  test('a pass of another container is a new one only in a sandbox without a pass', () => {
    const scene = new Scene();
    const pass = { uid: 'good', owner: 'good', verdict: 'passed', startedAt: 0, at: 3 } as const;
    scene.shows(3, { ...pass, run: 1, sandbox: 0 });
    for (const owner of ['web', 'db']) scene.runs(10, owner, 'failed', { owner });
    scene.shows(20, { uid: 'good', owner: 'good', sandbox: 0 });
    scene.shows(21, { ...pass, run: 2, sandbox: 0 });
    assert.match(scene.says(22, ready), /^failing/, 'a witness runs again');
    scene.shows(30, { uid: 'good', owner: 'good', sandbox: 30 });
    // if a node's clock has no battery, containers can have the same times after each boot
    scene.shows(31, { ...pass, run: 3, sandbox: 30 });
    assert.equal(scene.says(32, ready), 'proved, lets');
  });
});

suite("a node whose clock was an hour ahead when the network's pod started, and was set back", () => {
  const hour = 3600;
  function sceneSetBack(): Scene {
    const scene = new Scene();
    scene.shows(0, { uid: 'early', owner: 'early' });
    scene.agentStarts(hour);
    return scene;
  }

  test('fails if pods of two owners fail, and allows one pod after each pause', () => {
    const scene = sceneSetBack();
    scene.runs(10, 'good', 'passed', { startedAt: hour, at: hour });
    for (const owner of ['web', 'db']) scene.runs(20, owner, 'failed', { owner });
    assert.equal(scene.says(24, ready), 'failing, holds');
    scene.runs(30, 'web-2', 'failed', { owner: 'web' });
    assert.equal(scene.says(34), 'failing, holds');
    assert.equal(scene.says(36), 'failing, lets');
  });

  test('fails if sandboxes are not created', () => {
    const scene = sceneSetBack();
    for (const owner of ['web', 'db']) scene.shows(10, { uid: owner, owner, hasSandbox: false });
    assert.match(scene.says(71, ready), /^failing/);
  });
});

suite('sandboxes that are not created', () => {
  const waits = (scene: Scene, owner: string, at: number): void =>
    scene.shows(at, { uid: owner, owner, hasSandbox: false });

  test('of two owners, for a minute, make a node failing until they are created', () => {
    const scene = new Scene();
    waits(scene, 'web', 0);
    assert.equal(scene.says(70, ready), 'proved, lets');
    waits(scene, 'db', 0);
    assert.equal(scene.says(59, ready), 'proved, lets');
    assert.match(scene.says(61, ready), /^failing/);
    assert.match(
      scene.proof(61, ready).reason,
      /pod shop\/web-web has no sandbox, pod shop\/db-db has no sandbox$/,
    );
    scene.shows(62, { uid: 'web', owner: 'web', hasSandbox: true });
    assert.equal(scene.says(63, ready), 'proved, lets');
  });

  test('do not count if another pod has passed since', () => {
    const scene = new Scene();
    for (const owner of ['web', 'db']) waits(scene, owner, 0);
    scene.shows(30, { uid: 'good', owner: 'good', verdict: 'passed' });
    assert.equal(scene.says(61, ready), 'proved, lets');
  });

  test('count after a pass, also on a node whose clock is an hour ahead', () => {
    const scene = new Scene();
    scene.runs(0, 'good', 'passed', { owner: 'good', at: 3600 });
    for (const owner of ['web', 'db']) waits(scene, owner, 10);
    assert.match(scene.says(71, ready), /^failing/);
  });

  test('count after a restart, if the last pass was earlier', () => {
    const waiting = ['web', 'db'].map((owner) => ({ owner, at: -100, hasSandbox: false }));
    const scene = new Scene(evidenceWith([{ owner: 'good', verdict: 'passed', at: -200 }, ...waiting]));
    assert.match(scene.says(0, ready), /^failing/);
  });

  test("count at the earliest from the start of the DaemonSet's pod", () => {
    const scene = new Scene();
    waits(scene, 'web', 0);
    waits(scene, 'db', 0);
    scene.agentStarts(100);
    assert.equal(scene.says(159, ready), 'proved, lets');
    assert.match(scene.says(161, ready), /^failing/);
  });
});

suite('a node without a proof', () => {
  test('without a verdict within 30 s, the next pod is allowed', () => {
    const scene = new Scene();
    scene.shows(0, { uid: 'first' });
    assert.equal(scene.says(29), 'unproved, holds');
    assert.equal(scene.says(30), 'unproved, lets');
    scene.shows(31, { uid: 'second' });
    assert.equal(scene.says(32), 'unproved, holds');
    scene.goes(33, 'second');
    assert.equal(scene.says(33), 'unproved, lets', 'it was deleted');
    for (const over of ['leaving', 'ended']) scene.shows(34, { uid: over, [over]: true });
    assert.equal(scene.says(35), 'unproved, lets', 'they get no verdict');
  });

  /** How many seconds after the last failed attempt the gate allows the next pod of an owner. */
  const opensTo = (scene: Scene, failedAt: number, pod?: AskingPod): number =>
    [2, 4, 8, 12, 16, 30, 32, 60, 64, 120, 128, 240, 256, 300].find(
      (seconds) =>
        scene.says(failedAt + seconds - 1, { pod }).endsWith('holds') &&
        scene.says(failedAt + seconds, { pod }).endsWith('lets'),
    ) ?? Number.NaN;

  test('after a failed attempt there is a pause, the same for all owners that did not fail there', () => {
    const scene = new Scene();
    for (let at = 0; at < 100; at += 20) {
      scene.runs(at, `at-${at}`, 'failed', { takes: 10 });
      assert.equal(opensTo(scene, at + 10), 2);
      assert.equal(opensTo(scene, at + 10, { key: 'k', owner: 'fresh' }), 2);
    }
    scene.runs(500, 'ahead', 'failed');
    assert.equal(scene.says(300), 'unproved, lets', 'our clock was set back');
  });

  test('with each of its failed attempts, an owner waits longer; others do not', () => {
    const scene = new Scene();
    let at = 0;
    for (const pause of [4, 8, 16, 32, 64, 128, 256, 300, 300]) {
      scene.runs(at, `at-${at}`, 'failed', { owner: 'web', takes: 10 });
      at += 10;
      const held = { key: 'k', owner: 'web', heldSince: start };
      const own = [{ owner: 'web' }, held].map((pod) => opensTo(scene, at, pod));
      assert.deepEqual(own, [pause, pause]);
      assert.equal(opensTo(scene, at, { key: 'k', owner: 'db' }), 2);
      at += 400;
    }
    scene.runs(at, 'last', 'failed', { owner: 'web', takes: 10 });
    scene.agentStarts(at + 11);
    assert.equal(scene.says(at + 11.5, { pod: { key: 'k', owner: 'web' } }), 'unproved, lets');
  });

  test('an owner with a pod that runs on another node waits for a minute, unless its pod is held for 12 s', () => {
    const scene = new Scene();
    const opens = (at: number): number[] =>
      [{ key: 'k', owner: 'web' }, { owner: 'web' }].map((pod) => opensTo(scene, at, pod));
    scene.runs(0, 'there', 'passed', { owner: 'web', node: 'n2' });
    scene.runs(0, 'here', 'failed', { owner: 'web', takes: 10 });
    assert.deepEqual(opens(10), [60, 4]);
    const held = { key: 'k', owner: 'web', heldSince: start + 11 * seconds };
    assert.equal(scene.says(22, { pod: held }), 'unproved, holds');
    assert.equal(scene.says(23, { pod: held }), 'unproved, lets');
    scene.goes(20, 'there');
    assert.deepEqual(opens(10), [4, 4]);
    scene.runs(30, 'beside', 'failed', { owner: 'db' });
    assert.deepEqual(opens(33), [2, 2], 'the other owner failed, and this one has waited for its pause');
  });

  test('an owner with a pod that runs on the same node does not wait for a minute', () => {
    const scene = new Scene();
    scene.runs(0, 'before', 'passed', { owner: 'web' });
    scene.agentStarts(5);
    scene.runs(10, 'here', 'failed', { owner: 'web', takes: 10 });
    assert.equal(opensTo(scene, 20, { key: 'k', owner: 'web' }), 4);
  });

  test('an owner whose pod on another node has lost its network does not wait for a minute', () => {
    const scene = new Scene();
    scene.runs(0, 'there', 'passed', { owner: 'web', node: 'n2' });
    scene.runs(0, 'here', 'failed', { owner: 'web', takes: 10 });
    const unready = { run: 1, at: 0, shownBy: '1', patience: 0 };
    scene.shows(10, { uid: 'there', owner: 'web', node: 'n2', verdict: 'passed', unready });
    assert.equal(opensTo(scene, 10, { key: 'k', owner: 'web' }), 4);
  });

  test('a DaemonSet with pods on other nodes does not wait: its next pod cannot go there', () => {
    const scene = new Scene();
    const owner = ownerKey('net', { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'log', uid: 'log' });
    scene.runs(0, 'there', 'passed', { owner, node: 'n2' });
    scene.runs(0, 'here', 'failed', { owner, takes: 10 });
    assert.equal(opensTo(scene, 10, { key: 'k', owner }), 4);
  });

  test('a boot requires a new proof, also for a network without a DaemonSet', () => {
    const scene = new Scene();
    scene.runs(0, 'a', 'passed', { version: 3 });
    assert.equal(scene.says(5), 'proved, lets');
    scene.evidence.booted('n1', '10');
    assert.equal(scene.says(6), 'unproved, lets');
    // the watch of pods lags behind the watch of nodes, so it still reports a pass from before the boot
    scene.shows(6, { uid: 'b', verdict: 'passed', version: 9 });
    assert.equal(scene.says(7), 'unproved, lets');
    // the kubelet writes the pod again, with the verdict from before the boot
    scene.shows(7, { uid: 'a', verdict: 'passed', startedAt: 0, at: 3, version: 11 });
    assert.equal(scene.says(7), 'unproved, lets');
    scene.shows(8, { uid: 'a', version: 12 });
    scene.shows(8, { uid: 'a', verdict: 'passed', startedAt: 0, at: 3, version: 13 });
    assert.equal(scene.says(8), 'unproved, lets');
    scene.shows(9, { uid: 'a', version: 14 });
    scene.shows(11, { uid: 'a', verdict: 'passed', version: 15 });
    assert.equal(scene.says(11), 'proved, lets');
  });

  test('failures from before the boot do not count, also for a network without a DaemonSet', () => {
    const scene = new Scene();
    for (const owner of ['web', 'db']) scene.runs(0, owner, 'failed', { owner });
    assert.equal(scene.says(4, ready), 'failing, holds');
    scene.evidence.booted('n1', '1000');
    assert.equal(scene.says(4, ready), 'proved, lets');
    assert.equal(scene.says(4), 'unproved, lets');
  });

  test('a proof from before the boot does not count, even if it is the first that is known on the node', () => {
    const scene = new Scene();
    scene.evidence.booted('n1', '10');
    scene.shows(1, { uid: 'a', verdict: 'passed', version: 9 });
    assert.equal(scene.says(2), 'unproved, lets');
  });

  test('a proof from after the boot counts, even if the event of the boot comes later', () => {
    const scene = new Scene();
    scene.runs(5, 'a', 'passed', { version: 20 });
    scene.evidence.booted('n1', '10');
    assert.equal(scene.says(9), 'proved, lets');
  });
});
