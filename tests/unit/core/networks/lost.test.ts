import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { Kubelet, time, unready, type Written, working } from './kubelet.ts';

/* The pod status that a kubelet writes during rechecks. All times are seconds after `start`. */

const ready = { mode: 'ready' } as const;

/** A cluster with one pod for each owner. The network of every pod works. */
function clusterWith(...uids: string[]): Kubelet {
  const cluster = new Kubelet();
  for (const uid of uids) cluster.starts(0, uid);
  return cluster;
}

/** A cluster whose pods become unready at 100 s, so that their network counts as lost from 110 s on. */
function clusterWithout(...uids: string[]): Kubelet {
  const cluster = clusterWith(...uids);
  for (const uid of uids) cluster.writes(100, uid, unready);
  return cluster;
}

suite('a pod that passed, and whose readiness probe fails', () => {
  test('is lost after ten seconds, until it is ready', () => {
    const cluster = clusterWithout('a');
    cluster.writes(105, 'a', unready);
    assert.deepEqual(
      [109.9, 110].map((at) => cluster.verdict(at)),
      ['passed', 'lost'],
    );
    assert.equal(cluster.writes(200, 'a', unready), 'lost', 'another status that shows the same');
    assert.equal(cluster.writes(300, 'a', working), 'passed');
    assert.equal(cluster.writes(301, 'a', unready), 'passed', 'the time begins again');
    assert.equal(cluster.verdict(311), 'lost');
  });

  test('with a long period, is lost after two periods', () => {
    for (const [period, after] of [
      [6, 12],
      [360, 720],
      [null, 20],
    ] as const) {
      const cluster = clusterWith('a');
      cluster.writes(100, 'a', { ...unready, period });
      assert.deepEqual(
        [99 + after, 100 + after].map((at) => cluster.verdict(at)),
        ['passed', 'lost'],
      );
    }
  });

  const never: [what: string, shown: Written][] = [
    ['it has no readiness probe', { ...unready, probe: false }],
    ['it has not started', { ...unready, started: false }],
    ['it does not run', { ...unready, down: true }],
    ['the pod is being deleted', { ...unready, leaving: true }],
    ['the pod has ended', { ...unready, phase: 'Failed' }],
    ['the pod is not initialized yet', { ...unready, initialized: false }],
    ['the pod has lost its sandbox, as after a reboot', { ...unready, noSandbox: true }],
    ['it has not passed yet', { from: 0 }],
  ];
  for (const [what, shown] of never) {
    test(`is not lost if ${what}`, () => {
      const cluster = clusterWith('a');
      cluster.writes(100, 'a', shown);
      assert.notEqual(cluster.verdict(1000), 'lost');
    });
  }

  test('from a list: its time counts from the start of its run or of its containers, or from when it became unready', () => {
    for (const [shown, from, patience] of [
      [{ from: 50 }, 50, 60],
      [{ main: 60 }, 60, 10],
      [{ notReady: 70 }, 70, 10],
    ] as const) {
      const cluster = new Kubelet();
      cluster.writes(200, 'a', { ...unready, ...shown, listed: true });
      assert.deepEqual(
        [from + patience - 0.1, from + patience].map((at) => cluster.verdict(at)),
        ['passed', 'lost'],
      );
    }
  });

  test('from a later list, after the watch had ended: its time counts from when it became unready', () => {
    const cluster = clusterWith('a');
    assert.equal(cluster.writes(200, 'a', { ...unready, notReady: 70, listed: true }), 'lost');
  });

  test('keeps its controller and its profiles, which repair needs', () => {
    const { controller, required, failedProfiles } = clusterWithout('a').pod('a');
    assert.deepEqual([controller?.name, required !== undefined, failedProfiles], ['a', true, ['mesh']]);
    const { controller: none, unready: no } = clusterWith('a').pod('a');
    assert.deepEqual([none, no], [undefined, undefined], 'which a pod that works need not keep');
  });
});

suite('a container that was killed and runs again in its sandbox', () => {
  const again: Written = { ...unready, from: 200 };

  test('that is killed again: the time begins again with each run', () => {
    const cluster = clusterWith('a');
    cluster.writes(201, 'a', again);
    cluster.writes(208, 'a', { ...again, down: true });
    cluster.writes(209, 'a', { ...again, from: 209 });
    assert.deepEqual(
      [268.9, 269].map((at) => cluster.verdict(at)),
      ['passed', 'lost'],
    );
  });

  test('while its network was lost: the pod stays lost until it is ready', () => {
    const cluster = clusterWithout('a');
    const { shownBy } = cluster.pod('a').unready ?? {};
    assert.equal(cluster.writes(150, 'a', { ...unready, down: true }), 'lost');
    assert.equal(cluster.writes(200, 'a', again), 'lost');
    assert.equal(cluster.pod('a').unready?.shownBy, shownBy, 'the same loss');
    assert.equal(cluster.writes(203, 'a', { ...working, from: 200 }), 'passed');
  });

  test('in a new sandbox: it is no longer lost', () => {
    const cluster = clusterWithout('a');
    assert.equal(cluster.writes(300, 'a', { ...unready, from: 290, sandbox: 289, main: 295 }), 'passed');
  });

  test('together with all other containers, before a new server lists the pod: it does not count as a pass', () => {
    const cluster = new Kubelet();
    cluster.writes(203, 'a', { ...again, main: 202, listed: true });
    assert.equal(cluster.isProved, false);
    assert.equal(cluster.writes(204, 'a', { ...working, from: 200, main: 202 }), 'passed');
  });
});

suite('a node on which pods lost their network', () => {
  test('fails if pods of two owners are lost, until they are ready', () => {
    const cluster = clusterWithout('a', 'b');
    assert.deepEqual([109, 110].map(cluster.stateOf), ['proved', 'failing']);
    const { reason } = cluster.proof(110, ready);
    assert.match(reason, /pod shop\/a lost its network, pod shop\/b lost its network/);
    cluster.writes(200, 'a', working);
    assert.equal(cluster.stateOf(200), 'proved');
  });

  test('stops failing after a pass, and fails again if pods are lost later', () => {
    const cluster = clusterWithout('a', 'b');
    cluster.starts(120, 'new');
    assert.deepEqual([cluster.stateOf(126), cluster.verdict(126)], ['proved', 'lost']);
    for (const uid of ['a', 'b']) cluster.writes(130, uid, working);
    for (const uid of ['a', 'b']) cluster.writes(140, uid, unready);
    assert.equal(cluster.stateOf(150), 'failing');
  });

  test("stops failing after a new container of the network's pod", () => {
    const cluster = clusterWithout('a', 'b');
    cluster.started = { at: time(105) };
    assert.equal(cluster.stateOf(120), 'proved');
    cluster.started = { at: time(9999), shownBy: '1' };
    assert.equal(cluster.stateOf(120), 'failing', 'it started before the loss, whatever its clock says');
  });

  test('does not fail after a boot because of earlier statuses', () => {
    const cluster = clusterWithout('a', 'b');
    cluster.evidence.booted('n1', '1000');
    assert.equal(cluster.stateOf(120), 'proved');
    for (const uid of ['a', 'b']) cluster.writes(130, uid, unready);
    assert.equal(cluster.stateOf(150), 'proved');
  });

  test('keeps failing when the pods are deleted, and stops after a pass', () => {
    const cluster = clusterWithout('a', 'b', 'c');
    cluster.writes(120, 'a', { ...unready, leaving: true });
    cluster.goes(121, 'a');
    cluster.goes(121, 'b');
    cluster.writes(122, 'c', working);
    assert.equal(cluster.stateOf(125), 'failing');
    cluster.starts(130, 'new');
    assert.equal(cluster.stateOf(136), 'proved');
    assert.equal(cluster.evidence.of('mesh', 'n1')?.quiet, true, 'no record of them is left');
  });

  test('counts pods of one owner that are deleted one after another as one attempt', () => {
    const twice = clusterWith();
    for (const uid of ['a', 'b']) twice.starts(0, uid, 'web');
    for (const uid of ['a', 'b']) twice.writes(100, uid, { ...unready, owner: 'web' });
    const { owner } = twice.pod('a');
    twice.goes(120, 'a');
    twice.goes(140, 'b');
    assert.equal(twice.evidence.of('mesh', 'n1')?.failures.get(owner)?.attempts, 1);
  });

  test('does not fail because pods that were briefly unready are deleted', () => {
    const cluster = clusterWithout('a', 'b');
    for (const uid of ['a', 'b']) cluster.writes(105, uid, { ...unready, leaving: true });
    for (const uid of ['a', 'b']) cluster.goes(135, uid);
    assert.equal(cluster.stateOf(140), 'proved');
  });
});
