import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../harness/cluster.ts';
import { eventually } from '../harness/eventually.ts';
import { type RunningPod, runPod, type StoredPod, startPod } from './pod.ts';

/** kwok does not change the status of pods with this annotation. In the chart, the value `podAnnotations` sets it. */
export const held = { 'cni-gate.test/held': '' };

interface Seen extends StoredPod {
  metadata: StoredPod['metadata'] & { deletionTimestamp?: string };
  spec: StoredPod['spec'] & { restartPolicy: string };
}

const pods = '/api/v1/namespaces/cni-gate/pods';
const period = 100;

/** For rollouts: runs each pod of namespace cni-gate as a process until the pod is deleted, as a kubelet would. */
export class Kubelet {
  readonly #cluster: Cluster;
  readonly #running = new Map<string, Promise<RunningPod | undefined>>();
  /** Pods that are being deleted. They drain for up to 25 s. */
  readonly #deleted: Promise<RunningPod | undefined>[] = [];
  readonly failures: unknown[] = [];
  #addresses = 0;
  #stopped = false;
  readonly #loop: Promise<void>;

  constructor(cluster: Cluster) {
    this.#cluster = cluster;
    this.#loop = this.#run();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#loop;
    for (const pod of [...this.#running.values(), ...this.#deleted]) await (await pod)?.end('SIGKILL');
  }

  async #run(): Promise<void> {
    while (!this.#stopped) {
      // the request fails while the API server is down
      const { items } = await this.#cluster.api
        .get<{ items: Seen[] }>(pods)
        .catch(() => ({ items: undefined }));
      if (items !== undefined) this.#follow(items);
      await sleep(period);
    }
  }

  #follow(items: Seen[]): void {
    const present = items.filter(({ metadata, spec }) => spec.nodeName && !metadata.deletionTimestamp);
    for (const pod of present) {
      if (this.#running.has(pod.metadata.uid)) continue;
      const started = this.#start(pod).catch((error) => {
        if (!this.#stopped) this.failures.push(error);
        return undefined;
      });
      this.#running.set(pod.metadata.uid, started);
    }
    const uids = new Set(present.map(({ metadata }) => metadata.uid));
    for (const [uid, pod] of this.#running) {
      if (uids.has(uid)) continue;
      this.#running.delete(uid);
      this.#deleted.push(pod);
      void pod.then((running) => running?.end());
    }
  }

  async #start(pod: Seen): Promise<RunningPod | undefined> {
    const path = `${pods}/${pod.metadata.name}/status`;
    this.#addresses += 1;
    const podIP = `10.253.200.${this.#addresses}`;
    const status = { phase: 'Running', podIP, podIPs: [{ ip: podIP }] };
    await this.#cluster.api.patch(path, { status });
    const addressed = { ...pod, status };
    if (pod.spec.restartPolicy === 'Never') {
      const { code, output } = await runPod(this.#cluster, addressed);
      if (code !== 0) this.failures.push(new Error(`${pod.metadata.name} ended with ${code}:\n${output}`));
      await this.#cluster.api.patch(path, { status: { phase: code === 0 ? 'Succeeded' : 'Failed' } });
      return undefined;
    }
    const running = await startPod(this.#cluster, addressed);
    await eventually(async () => {
      const { status: answer } = await running.ops('/readyz');
      if (answer !== 200) throw new Error(`/readyz of ${pod.metadata.name} answers ${answer}`);
      // a kubelet would repeat its probe without a limit
    }, 180);
    const conditions = ['PodReadyToStartContainers', 'Initialized', 'ContainersReady', 'Ready'].map(
      (type) => ({ type, status: 'True', lastTransitionTime: new Date().toISOString() }),
    );
    await this.#cluster.api.patch(path, { status: { conditions } });
    return running;
  }
}
