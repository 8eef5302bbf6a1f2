import assert from 'node:assert/strict';
import type { ApiPod, ContainerStatus, PodStatus } from '../../../../webhook/core/facts/api.ts';
import { type PodEvidence, verdictAt } from '../../../../webhook/core/facts/pod-evidence.ts';
import { evidencePick } from '../../../../webhook/core/facts/to-pod-evidence.ts';
import { Scene, seconds, start } from './support.ts';

/** Converts a time of this file, in seconds after {@link start}, to milliseconds since the epoch. */
export const time = (at: number): number => start + at * seconds;
const iso = (at: number): string => new Date(time(at)).toISOString();
const idOf = (from: number): string => `containerd://${String(from).padStart(64, '0')}`;

/** The state of a container whose run ended after ten seconds. */
export const ended = (exitCode: number, from: number) => ({
  terminated: { exitCode, startedAt: iso(from), finishedAt: iso(from + 10), containerID: idOf(from) },
});
export const running = (from: number) => ({ running: { startedAt: iso(from) } });
export const crashLoop = { waiting: { reason: 'CrashLoopBackOff' } };

/** What a pod's status shows. `from`, `started` and `ready` are those of our container. */
export interface Written {
  from?: number;
  started?: boolean;
  ready?: boolean;
  /** Set if our container does not run. */
  down?: boolean;
  /** States of our container that replace the others. */
  ours?: Pick<ContainerStatus, 'state' | 'lastState'>;
  /** When the pod's other container started; undefined before that. */
  main?: number | undefined;
  /** When the pod became unready, by its condition. */
  notReady?: number;
  sandbox?: number;
  noSandbox?: boolean;
  initialized?: boolean;
  leaving?: boolean;
  phase?: string;
  period?: number | null;
  probe?: boolean;
  listed?: boolean;
  /** The name of the pod's ReplicaSet; empty if the pod has none. */
  owner?: string;
}

export const working: Written = { from: 0, started: true, ready: true, main: 5 };
export const unready: Written = { ...working, ready: false };

function statusOf(shown: Written): PodStatus {
  const { from = 0, started = false, ready = false, down = false, main, notReady, sandbox = -1 } = shown;
  const condition = (type: string, is: boolean, at: number) => ({
    ...{ type, status: is ? 'True' : 'False', lastTransitionTime: iso(at) },
  });
  const ours: ContainerStatus = {
    ...{ name: 'cni-gate-validator', ready, started, containerID: idOf(from) },
    state: down ? crashLoop : running(from),
    ...(from > 0 && { lastState: ended(137, 0) }),
    ...shown.ours,
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
        : { name: 'web', ready: true, started: true, state: running(main) },
    ],
  };
}

/** The kubelet of node n1, whose pods have a witness. The server's own code reads the statuses. */
export class Kubelet extends Scene {
  readonly #pick = evidencePick();

  /** Writes a pod's status, which the server gets immediately. @returns the pod's verdict at that moment */
  writes(at: number, uid: string, shown: Written): string {
    const { owner = uid, period = 2, probe = true, leaving = false, listed = false } = shown;
    const controller = {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      name: owner,
      uid: owner,
      controller: true,
    };
    const pod: ApiPod = {
      metadata: {
        ...{ uid, resourceVersion: this.nextVersion(), namespace: 'shop', name: uid },
        creationTimestamp: iso(-1),
        ...(leaving && { deletionTimestamp: iso(at) }),
        ownerReferences: owner === '' ? [] : [controller],
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

  pod(uid: string): PodEvidence {
    const pod = this.evidence.pod(uid);
    assert.ok(pod);
    return pod;
  }

  verdict = (at: number, uid = 'a'): string => verdictAt(this.pod(uid), time(at));

  /** Starts a pod whose network works. */
  starts(at: number, uid: string, owner = uid): void {
    const shown = { from: at, sandbox: at - 1, owner };
    this.writes(at, uid, shown);
    this.writes(at + 3, uid, { ...shown, started: true });
    this.writes(at + 5, uid, { ...working, ...shown, started: true, main: at + 5 });
  }

  boots(): void {
    this.evidence.booted('n1', this.nextVersion());
  }

  /** Whether a proof has passed on node n1 since the node's boot. */
  get isProved(): boolean {
    return this.evidence.of('mesh', 'n1')?.lastPass !== undefined;
  }

  stateOf = (at: number): string => this.proof(at, { mode: 'ready' }).state;
}
