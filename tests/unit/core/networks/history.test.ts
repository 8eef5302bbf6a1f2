import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { ApiPod, ContainerStatus } from '../../../../webhook/core/facts/api.ts';
import type { PodEvidence } from '../../../../webhook/core/facts/pod-evidence.ts';
import { evidencePick } from '../../../../webhook/core/facts/to-pod-evidence.ts';

import { Evidence } from '../../../../webhook/core/networks/evidence.ts';

const start = Date.parse('2026-11-21T12:00:00Z');
const iso = (seconds: number): string => new Date(start + seconds * 1000).toISOString();
const controller = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'rs', controller: true };

type Ours = Omit<ContainerStatus, 'name'>;
type Owners = NonNullable<ApiPod['metadata']['ownerReferences']>;

/** The state of a container that ran for ten seconds. @param from when it started, in seconds */
const ended = (exitCode: number, from: number) => ({
  terminated: { exitCode, startedAt: iso(from), finishedAt: iso(from + 10), containerID: idOf(from) },
});
const running = (from: number) => ({ running: { startedAt: iso(from) } });
const idOf = (from: number): string => `containerd://${String(from).padStart(64, '0')}`;
const backOff = { waiting: { reason: 'CrashLoopBackOff' } };

/** A kubelet that writes one status after another of a pod on n1. */
class Kubelet {
  readonly evidence = new Evidence();
  readonly #pick = evidencePick();
  #version = 0;
  sandbox = 0;
  /** Whether the init container is a sidecar, which makes it a witness. */
  sidecar = false;
  owners: Owners = [controller];

  /** Writes a status of the pod. @param main the state of the pod's main container */
  writes(ours: Ours, { main = {}, phase = 'Pending' }: { main?: Ours; phase?: string } = {}): PodEvidence {
    this.#version += 1;
    const pod: ApiPod = {
      metadata: {
        uid: 'u1',
        resourceVersion: String(this.#version),
        namespace: 'shop',
        name: 'web-1',
        creationTimestamp: iso(-1),
        ownerReferences: this.owners,
      },
      spec: {
        nodeName: 'n1',
        initContainers: [
          {
            name: 'cni-gate-validator',
            ...(this.sidecar && { restartPolicy: 'Always' }),
            env: [{ name: 'CNI_GATE_CHECKS', value: '[{"profile":"mesh","address":{"timeout":"10s"}}]' }],
          },
        ],
      },
      status: {
        phase,
        conditions: [
          { type: 'PodReadyToStartContainers', status: 'True', lastTransitionTime: iso(this.sandbox) },
        ],
        initContainerStatuses: [{ name: 'cni-gate-validator', ...ours }],
        containerStatuses: [{ name: 'web', ...main }],
      },
    };
    this.evidence.apply([{ type: 'put', pod: this.#pick(pod), listed: false }], start);
    const known = this.evidence.pod('u1');
    assert.ok(known);
    return known;
  }
}

suite('a pod that failed', () => {
  const failed = { state: ended(95, 1) };
  const nothing: [what: string, status: Ours][] = [
    ['a check could not be made', { state: ended(69, 20), lastState: ended(95, 1) }],
    ['the same, and it waits', { state: backOff, lastState: ended(69, 20) }],
    ['it was stopped', { state: running(40), lastState: ended(137, 20) }],
    ['it could not be started', { state: backOff, lastState: ended(128, 20) }],
  ];
  for (const [what, status] of nothing) {
    test(`stays one in its sandbox, though later nothing is shown: ${what}`, () => {
      const kubelet = new Kubelet();
      kubelet.writes({ state: running(1) });
      const before = kubelet.writes(failed);
      const { version, ...now } = kubelet.writes(status);
      assert.equal(now.verdict, 'failed');
      assert.deepEqual({ ...now, version: before.version, run: before.run }, before);
      assert.equal(version, '3', 'a deletion asks for the version that is there');
    });
  }

  test('does not stay one in another sandbox, of another controller, or if it passes', () => {
    const cases: [change: (kubelet: Kubelet) => void, ours: Ours, expected: string][] = [
      [(kubelet) => Object.assign(kubelet, { sandbox: 15 }), { state: running(20) }, 'waiting'],
      [(kubelet) => Object.assign(kubelet, { sandbox: 15 }), { state: ended(69, 20) }, 'not-possible'],
      [(kubelet) => Object.assign(kubelet, { owners: [] }), { state: ended(69, 20) }, 'not-possible'],
      [() => {}, { state: ended(0, 20) }, 'passed'],
    ];
    for (const [change, ours, expected] of cases) {
      const kubelet = new Kubelet();
      kubelet.writes(failed);
      change(kubelet);
      assert.equal(kubelet.writes(ours).verdict, expected);
    }
  });
});

suite('a witness that runs again in its sandbox', () => {
  const of = (from: number, started: boolean): Ours => ({
    state: running(from),
    started,
    containerID: idOf(from),
  });
  const main = { state: running(3) };
  const isProved = (kubelet: Kubelet): boolean => kubelet.evidence.of('mesh', 'n1')?.lastPass !== undefined;

  /** A pod whose first run passed, on a node that has booted since and on which nothing has passed since the boot. */
  function scene(): Kubelet {
    const kubelet = new Kubelet();
    kubelet.sidecar = true;
    kubelet.writes(of(1, false));
    kubelet.writes(of(1, true), { main, phase: 'Running' });
    assert.equal(isProved(kubelet), true);
    kubelet.evidence.booted('n1', '3');
    return kubelet;
  }

  test('is no new proof, though the proxy answers its startup probe', () => {
    const kubelet = scene();
    const first = kubelet.evidence.pod('u1');
    kubelet.writes({ ...of(20, false), lastState: ended(137, 1) }, { main, phase: 'Running' });
    const again = kubelet.writes({ ...of(20, true), lastState: ended(137, 1) }, { main, phase: 'Running' });
    assert.deepEqual([again.verdict, isProved(kubelet)], ['passed', false]);
    assert.equal(first?.verdict, 'passed');
  });

  test('is none either while nothing else runs, or for a process that has not seen the first run', () => {
    const kubelet = scene();
    const crashed = { main: { state: backOff }, phase: 'Running' };
    kubelet.writes(of(20, false), crashed);
    kubelet.writes(of(20, true), crashed);
    assert.equal(isProved(kubelet), false);
    const late = new Kubelet();
    late.sidecar = true;
    late.writes(of(20, false), { main, phase: 'Running' });
    late.writes(of(20, true), { main, phase: 'Running' });
    assert.equal(isProved(late), false);
  });

  test('is a proof in another sandbox', () => {
    const kubelet = scene();
    kubelet.sandbox = 30;
    kubelet.writes(of(31, false));
    kubelet.writes(of(31, true));
    assert.equal(isProved(kubelet), true);
  });
});
