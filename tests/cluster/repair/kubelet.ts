import { setTimeout as sleep } from 'node:timers/promises';
import { validatorContainer } from '../../../webhook/lib/names.ts';
import { ApiError } from '../harness/api.ts';
import type { Cluster } from '../harness/cluster.ts';

export interface Pod {
  metadata: {
    name: string;
    namespace: string;
    uid: string;
    creationTimestamp: string;
    deletionTimestamp?: string;
    ownerReferences?: { kind: string; name: string }[];
  };
  spec: { nodeName?: string; containers: { name: string }[] };
  status: {
    phase: string;
    conditions?: { type: string; status: string; message?: string }[];
  };
}

/**
 * What happens to a pod. `starting`: its proof runs. `passed`: its proof passed, and its containers run. `succeeded`:
 * its containers have ended. A number: the proof ended with this exit code and is repeated. `ended`: the proof
 * ended with exit code 95 and is not repeated. `lost`: the node lost power, and the pod does not run again.
 */
export type Fate = 'starting' | 'passed' | 'succeeded' | 'ended' | 'lost' | number;

/** kwok does not change pods with this annotation: the test acts as their kubelet. */
export const ours = { annotations: { 'cni-gate.test/held': 'yes' } };

const statusOf = (pod: Pod, fate: Fate): object => {
  const now = new Date().toISOString();
  const exitCode = fate === 'ended' ? 95 : typeof fate === 'number' ? fate : 0;
  const terminated = {
    exitCode,
    reason: exitCode === 0 ? 'Completed' : 'Error',
    startedAt: now,
    finishedAt: now,
  };
  const state = fate === 'starting' ? { running: { startedAt: now } } : { terminated };
  const validator = {
    name: validatorContainer,
    image: 'i',
    imageID: '',
    // in these tests, a proof is `not-possible` (69) only after an earlier one failed, so the container was restarted
    restartCount: fate === 69 ? 1 : 0,
    ready: exitCode === 0,
    ...(typeof fate === 'number'
      ? { state: { waiting: { reason: 'CrashLoopBackOff' } }, lastState: { terminated } }
      : { state }),
  };
  const ready = fate === 'passed' ? 'True' : 'False';
  const phases = { passed: 'Running', succeeded: 'Succeeded', ended: 'Failed', lost: 'Failed' } as const;
  return {
    phase: typeof fate === 'number' || fate === 'starting' ? 'Pending' : phases[fate],
    startTime: now,
    conditions: [
      // a pod keeps its sandbox, so this condition does not change after the pod's creation
      {
        type: 'PodReadyToStartContainers',
        status: 'True',
        lastTransitionTime: pod.metadata.creationTimestamp,
      },
      ...['Initialized', 'Ready'].map((type) => ({ type, status: ready, lastTransitionTime: now })),
    ],
    initContainerStatuses: [validator],
    ...((fate === 'passed' || fate === 'lost') && {
      containerStatuses: pod.spec.containers.map(({ name }) => ({
        name,
        image: 'i',
        imageID: '',
        restartCount: 0,
        ready: fate === 'passed',
        state:
          fate === 'passed'
            ? { running: { startedAt: now } }
            : { terminated: { exitCode: 255, reason: 'Unknown', startedAt: now, finishedAt: now } },
      })),
    }),
  };
};

export const decide = (cluster: Cluster, pod: Pod, fate: Fate): Promise<unknown> =>
  cluster.api.patch(`/api/v1/namespaces/${pod.metadata.namespace}/pods/${pod.metadata.name}/status`, {
    metadata: { uid: pod.metadata.uid },
    status: statusOf(pod, fate),
  });

export interface Kubelet {
  /** Decides what happens to a new pod. If it returns undefined, the pod gets no verdict. */
  fate: (pod: Pod) => Fate | undefined;
  seen: Map<string, Pod>;
  stop(): Promise<void>;
}

/** Watches the pods of a namespace and writes the status of each pod that is bound to a node. */
export function startKubelet(cluster: Cluster, namespace: string): Kubelet {
  const stop = new AbortController();
  const kubelet: Kubelet = {
    fate: () => 'passed',
    seen: new Map(),
    stop: async () => {
      stop.abort();
      await running;
    },
  };
  const follow = async (): Promise<void> => {
    for await (const { object } of cluster.api.watch<Pod>(
      `/api/v1/namespaces/${namespace}/pods`,
      stop.signal,
    )) {
      const { metadata, spec } = object;
      if (!spec?.nodeName || kubelet.seen.has(metadata.uid)) continue;
      kubelet.seen.set(metadata.uid, object);
      const fate = kubelet.fate(object);
      if (fate !== undefined) void write(object, fate);
    }
  };
  /** Retries until the API server has stored the status, as a kubelet does. The pod may be deleted by then. */
  const write = async (pod: Pod, fate: Fate): Promise<void> => {
    for (;;) {
      try {
        await decide(cluster, pod, fate);
        return;
      } catch (error) {
        if (stop.signal.aborted || (error instanceof ApiError && error.status < 500)) return;
        await sleep(200);
      }
    }
  };
  const running = (async () => {
    while (!stop.signal.aborted) {
      // the watch ends while the API server is down
      await follow().catch(() => sleep(100));
    }
  })();
  return kubelet;
}
