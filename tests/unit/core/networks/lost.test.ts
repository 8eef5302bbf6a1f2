import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ApiPod, ContainerStatus, PodStatus } from '../../../../webhook/core/facts/api.ts';
import { toNodeFacts } from '../../../../webhook/core/facts/node.ts';
import { type PodEvidence, verdictAt } from '../../../../webhook/core/facts/pod-evidence.ts';
import { evidencePick } from '../../../../webhook/core/facts/to-pod-evidence.ts';
import { Evidence } from '../../../../webhook/core/networks/evidence.ts';
import type { Moment } from '../../../../webhook/core/networks/moment.ts';
import { type ProofStatus, proofStatus } from '../../../../webhook/core/networks/network-status.ts';
import { policyOf } from '../../../support/configurations.ts';
import { apiNode } from './objects.ts';

/* Kubelets write statuses of pods whose checks are repeated. All times are seconds after `start`. */

const start = Date.parse('2026-11-21T12:00:00Z');
const time = (seconds: number): number => start + seconds * 1000;
const iso = (seconds: number): string => new Date(time(seconds)).toISOString();
const idOf = (from: number): string => `containerd://${String(from).padStart(64, '0')}`;

/** What a status shows of our container: when its run began, and whether it has started and is ready. */
interface Shown {
  from?: number;
  started?: boolean;
  ready?: boolean;
  /** Our container does not run. */
  down?: boolean;
  /** When the pod's other container started; undefined while it has not. */
  main?: number | undefined;
  /** Since when the pod has not been ready, by its condition. */
  notReady?: number;
  sandbox?: number;
  noSandbox?: boolean;
  initialized?: boolean;
  leaving?: boolean;
  phase?: string;
  period?: number | null;
  probe?: boolean;
  listed?: boolean;
  owner?: string;
}

const working: Shown = { from: 0, started: true, ready: true, main: 5 };
const unready: Shown = { ...working, ready: false };

function statusOf(shown: Shown): PodStatus {
  const { from = 0, started = false, ready = false, down = false, main, notReady, sandbox = -1 } = shown;
  const condition = (type: string, is: boolean, at: number) => ({
    ...{ type, status: is ? 'True' : 'False', lastTransitionTime: iso(at) },
  });
  const state = down ? { waiting: { reason: 'CrashLoopBackOff' } } : { running: { startedAt: iso(from) } };
  const ours: ContainerStatus = {
    ...{ name: 'cni-gate-validator', ready, started, state, containerID: idOf(from) },
    ...(from > 0 && {
      lastState: { terminated: { exitCode: 137, startedAt: iso(0), finishedAt: iso(from - 1) } },
    }),
  };
  return {
    phase: shown.phase ?? (main === undefined ? 'Pending' : 'Running'),
    conditions: [
      condition('PodReadyToStartContainers', shown.noSandbox !== true, sandbox),
      condition('Initialized', shown.initialized ?? main !== undefined, main ?? -1),
      condition('ContainersReady', ready, ready ? 6 : (notReady ?? -1)),
    ],
    initContainerStatuses: [ours],
    containerStatuses: [
      main === undefined
        ? { name: 'web', ready: false }
        : { name: 'web', ready: true, started: true, state: { running: { startedAt: iso(main) } } },
    ],
  };
}

const policy = policyOf({
  profiles: [{ name: 'mesh', daemonSets: [], proof: { checks: [] }, evidence: 'ready' }],
});
const profile = policy.profiles.get('mesh');

class Cluster {
  readonly evidence = new Evidence();
  readonly #pick = evidencePick();
  #version = 0;
  agentStarted: Moment = { at: Number.NEGATIVE_INFINITY };

  constructor() {
    this.evidence.markSynced();
  }

  /** A status of a pod arrives. @returns the pod's verdict at that moment */
  shows(at: number, uid: string, shown: Shown): string {
    this.#version += 1;
    const { owner = uid, period = 2, probe = true, leaving = false, listed = false } = shown;
    const pod: ApiPod = {
      metadata: {
        ...{ uid, resourceVersion: String(this.#version), namespace: 'shop', name: uid },
        creationTimestamp: iso(-1),
        ...(leaving && { deletionTimestamp: iso(at) }),
        ownerReferences: [
          { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: owner, uid: owner, controller: true },
        ],
      },
      spec: {
        nodeName: 'n1',
        initContainers: [
          {
            name: 'cni-gate-validator',
            restartPolicy: 'Always',
            env: [{ name: 'CNI_GATE_CHECKS', value: '[{"profile":"mesh","address":{"timeout":"10s"}}]' }],
            ...(probe && { readinessProbe: { periodSeconds: period } }),
          },
        ],
      },
      status: statusOf(shown),
    };
    this.evidence.apply([{ type: 'put', pod: this.#pick(pod), listed }], time(at));
    return this.verdict(at, uid);
  }

  goes(at: number, uid: string): void {
    this.evidence.apply([{ type: 'gone', uid }], time(at));
  }

  pod(uid: string): PodEvidence {
    const pod = this.evidence.pod(uid);
    assert.ok(pod);
    return pod;
  }

  verdict = (at: number, uid = 'a'): string => verdictAt(this.pod(uid), time(at));

  /** A pod starts and works. */
  starts(at: number, uid: string, owner = uid): void {
    const shown = { from: at, sandbox: at - 1, owner };
    this.shows(at, uid, shown);
    this.shows(at + 3, uid, { ...shown, started: true });
    this.shows(at + 5, uid, { ...working, ...shown, started: true, main: at + 5 });
  }

  proof(at: number): ProofStatus {
    const readiness = { node: () => toNodeFacts(apiNode('n1', 'b1', 2)), started: () => this.agentStarted };
    const proof =
      profile && proofStatus(profile, 'n1', { policy, readiness, evidence: this.evidence }, time(at));
    assert.ok(proof);
    return proof;
  }

  says = (at: number): string => this.proof(at).state;
}

/** A cluster with a pod for each of the owners, all of which work. */
function clusterWith(...uids: string[]): Cluster {
  const cluster = new Cluster();
  for (const uid of uids) cluster.starts(0, uid);
  return cluster;
}

/** The pods are not ready from 100 s on, and so lost from 110 s on. */
function clusterWithout(...uids: string[]): Cluster {
  const cluster = clusterWith(...uids);
  for (const uid of uids) cluster.shows(100, uid, unready);
  return cluster;
}

suite('a pod that passed, and whose readiness probe fails', () => {
  test('is lost after ten seconds, until it is ready', () => {
    const cluster = clusterWithout('a');
    cluster.shows(105, 'a', unready);
    assert.deepEqual(
      [109.9, 110].map((at) => cluster.verdict(at)),
      ['passed', 'lost'],
    );
    assert.equal(cluster.shows(200, 'a', unready), 'lost', 'another status that shows the same');
    assert.equal(cluster.shows(300, 'a', working), 'passed');
    assert.equal(cluster.shows(301, 'a', unready), 'passed', 'the time begins anew');
    assert.equal(cluster.verdict(311), 'lost');
  });

  test('with a long period, is lost after two periods', () => {
    for (const [period, after] of [
      [6, 12],
      [360, 720],
      [null, 20],
    ] as const) {
      const cluster = clusterWith('a');
      cluster.shows(100, 'a', { ...unready, period });
      assert.deepEqual(
        [99 + after, 100 + after].map((at) => cluster.verdict(at)),
        ['passed', 'lost'],
      );
    }
  });

  const never: [what: string, shown: Shown][] = [
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
      cluster.shows(100, 'a', shown);
      assert.notEqual(cluster.verdict(1000), 'lost');
    });
  }

  test('of a list: since the start of its run, of its containers, or since it is not ready', () => {
    for (const [shown, from, patience] of [
      [{ from: 50 }, 50, 60],
      [{ main: 60 }, 60, 10],
      [{ notReady: 70 }, 70, 10],
    ] as const) {
      const cluster = new Cluster();
      cluster.shows(200, 'a', { ...unready, ...shown, listed: true });
      assert.deepEqual(
        [from + patience - 0.1, from + patience].map((at) => cluster.verdict(at)),
        ['passed', 'lost'],
      );
    }
  });

  test('of a later list, after the watch had ended: since it is not ready', () => {
    const cluster = clusterWith('a');
    assert.equal(cluster.shows(200, 'a', { ...unready, notReady: 70, listed: true }), 'lost');
  });

  test('keeps its controller and its profiles, which repair needs', () => {
    const { controller, required, failedProfiles } = clusterWithout('a').pod('a');
    assert.deepEqual([controller?.name, required !== undefined, failedProfiles], ['a', true, ['mesh']]);
    const { controller: none, unready: no } = clusterWith('a').pod('a');
    assert.deepEqual([none, no], [undefined, undefined], 'which a pod that works need not keep');
  });
});

suite('a container that was killed and runs again in its sandbox', () => {
  const again: Shown = { ...unready, from: 200 };

  test('is neither a loss nor a pass: it is started at once, and ready some seconds later', () => {
    const cluster = clusterWith('a');
    cluster.evidence.booted('n1', '3');
    cluster.shows(200, 'a', { ...again, started: false });
    cluster.shows(201, 'a', again);
    assert.equal(cluster.verdict(210.9), 'passed');
    assert.equal(cluster.shows(210.9, 'a', { ...working, from: 200 }), 'passed');
    assert.equal(cluster.verdict(1000), 'passed');
    assert.equal(cluster.evidence.of('mesh', 'n1')?.lastPass, undefined);
  });

  test('and again: the time begins anew with each run', () => {
    const cluster = clusterWith('a');
    cluster.shows(201, 'a', again);
    cluster.shows(208, 'a', { ...again, down: true });
    cluster.shows(209, 'a', { ...again, from: 209 });
    assert.deepEqual(
      [268.9, 269].map((at) => cluster.verdict(at)),
      ['passed', 'lost'],
    );
  });

  test('while its network was lost: the pod stays lost until it is ready', () => {
    const cluster = clusterWithout('a');
    const { shownBy } = cluster.pod('a').unready ?? {};
    assert.equal(cluster.shows(150, 'a', { ...unready, down: true }), 'lost');
    assert.equal(cluster.shows(200, 'a', again), 'lost');
    assert.equal(cluster.pod('a').unready?.shownBy, shownBy, 'the same loss');
    assert.equal(cluster.shows(203, 'a', { ...working, from: 200 }), 'passed');
  });

  test('in a new sandbox: it is not lost any more', () => {
    const cluster = clusterWithout('a');
    assert.equal(cluster.shows(300, 'a', { ...unready, from: 290, sandbox: 289, main: 295 }), 'passed');
  });

  test('and all containers with it, in the first list of a new server: it is no pass', () => {
    const cluster = new Cluster();
    cluster.shows(203, 'a', { ...again, main: 202, listed: true });
    assert.equal(cluster.evidence.of('mesh', 'n1')?.lastPass, undefined);
    assert.equal(cluster.shows(204, 'a', { ...working, from: 200, main: 202 }), 'passed');
  });
});

suite('a node on which pods lost their network', () => {
  test('fails with two owners, until they are ready', () => {
    const cluster = clusterWithout('a', 'b');
    assert.deepEqual([109, 110].map(cluster.says), ['proved', 'failing']);
    const { reason, since } = cluster.proof(110);
    assert.match(reason, /pod shop\/a lost its network, pod shop\/b lost its network/);
    assert.equal(since, time(100));
    cluster.shows(200, 'a', working);
    assert.equal(cluster.says(200), 'proved');
  });

  test('does not fail with many pods of one owner', () => {
    const cluster = clusterWith();
    for (const uid of ['a', 'b', 'c']) cluster.starts(0, uid, 'web');
    for (const uid of ['a', 'b', 'c']) cluster.shows(100, uid, { ...unready, owner: 'web' });
    assert.deepEqual([cluster.verdict(110), cluster.says(110)], ['lost', 'proved']);
  });

  test('is opened by a pass, and failing again if pods are lost after it', () => {
    const cluster = clusterWithout('a', 'b');
    cluster.starts(120, 'new');
    assert.deepEqual([cluster.says(126), cluster.verdict(126)], ['proved', 'lost']);
    for (const uid of ['a', 'b']) cluster.shows(130, uid, working);
    for (const uid of ['a', 'b']) cluster.shows(140, uid, unready);
    assert.equal(cluster.says(150), 'failing');
  });

  test("is opened by a new container of the network's pod", () => {
    const cluster = clusterWithout('a', 'b');
    cluster.agentStarted = { at: time(105) };
    assert.equal(cluster.says(120), 'proved');
    cluster.agentStarted = { at: time(9999), shownBy: '1' };
    assert.equal(cluster.says(120), 'failing', 'its start was before, whatever its clock says');
  });

  test('has booted since: what statuses from before show does not count', () => {
    const cluster = clusterWithout('a', 'b');
    cluster.evidence.booted('n1', '1000');
    assert.equal(cluster.says(120), 'proved');
    for (const uid of ['a', 'b']) cluster.shows(130, uid, unready);
    assert.equal(cluster.says(150), 'proved');
  });

  test('stays failing when they are deleted, and is opened by a pass', () => {
    const cluster = clusterWithout('a', 'b', 'c');
    cluster.shows(120, 'a', { ...unready, leaving: true });
    cluster.goes(121, 'a');
    cluster.goes(121, 'b');
    cluster.shows(122, 'c', working);
    assert.equal(cluster.says(125), 'failing');
    assert.equal(cluster.proof(125).since, time(100));
    cluster.starts(130, 'new');
    assert.equal(cluster.says(136), 'proved');
    assert.equal(cluster.evidence.of('mesh', 'n1')?.quiet, true, 'nothing of them stays');
  });

  test('fails since the first loss, and pods of one owner that are deleted one after the other are one attempt', () => {
    const later = clusterWithout('a', 'b');
    for (const uid of ['c', 'd']) later.starts(120, uid);
    for (const uid of ['c', 'd']) later.shows(200, uid, { ...unready, from: 120, sandbox: 119, main: 125 });
    assert.equal(later.proof(261).since, time(200), 'after a pass');
    const cluster = clusterWithout('a', 'b');
    cluster.goes(120, 'a');
    cluster.shows(121, 'b', working);
    cluster.shows(150, 'b', unready);
    assert.equal(cluster.proof(160).since, time(100));
    const twice = clusterWith();
    for (const uid of ['a', 'b']) twice.starts(0, uid, 'web');
    for (const uid of ['a', 'b']) twice.shows(100, uid, { ...unready, owner: 'web' });
    const { owner } = twice.pod('a');
    twice.goes(120, 'a');
    twice.goes(140, 'b');
    assert.equal(twice.evidence.of('mesh', 'n1')?.failures.get(owner)?.attempts, 1);
  });

  test('does not fail because pods are deleted that were not ready for a moment', () => {
    const cluster = clusterWithout('a', 'b');
    for (const uid of ['a', 'b']) cluster.shows(105, uid, { ...unready, leaving: true });
    for (const uid of ['a', 'b']) cluster.goes(135, uid);
    assert.equal(cluster.says(140), 'proved');
  });
});
