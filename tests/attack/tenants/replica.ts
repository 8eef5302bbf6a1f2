import { setTimeout as sleep } from 'node:timers/promises';
import type { Cluster } from '../../cluster/harness/cluster.ts';
import { eventually } from '../../cluster/harness/eventually.ts';
import { endpoints } from '../../cluster/installed/installation.ts';
import { type RunningPod, type StoredPod, startPod } from '../../cluster/installed/pod.ts';
import { ControlGroup, containerMemory } from '../harness/control-group.ts';
import { type Observation, type Observed, observe } from '../harness/observer.ts';
import { podsOf } from './objects.ts';

/** A pod of the Deployment that runs as an observed process with its container's memory limit. */
export class Replica {
  readonly #cluster: Cluster;
  readonly #pod: StoredPod;
  #group = new ControlGroup('replica', { memory: containerMemory });
  #running: RunningPod | undefined;
  #observation: Observation | undefined;
  /** What was seen of each process that has ended since {@link begin}. */
  #seen: Observed[] = [];

  private constructor(cluster: Cluster, pod: StoredPod) {
    this.#cluster = cluster;
    this.#pod = pod;
  }

  static async start(cluster: Cluster, pod: StoredPod): Promise<Replica> {
    const replica = new Replica(cluster, pod);
    await replica.#run();
    return replica;
  }

  get name(): string {
    return this.#pod.metadata.name;
  }

  get lines(): readonly Record<string, unknown>[] {
    return this.#running?.lines ?? [];
  }

  get leads(): boolean {
    const reports = this.lines.filter(
      ({ lease, msg }) => lease !== undefined && /\bleads?\b/.test(String(msg)),
    );
    return reports.at(-1)?.msg === 'this replica leads';
  }

  get alive(): boolean {
    const child = this.#running?.child;
    return child !== undefined && child.exitCode === null && child.signalCode === null;
  }

  async begin(): Promise<void> {
    const running = this.#running;
    if (running === undefined) throw new Error(`${this.name} does not run`);
    this.#observation = await observe({
      pid: running.pid,
      group: this.#group.folder,
      metrics: `${running.opsUrl}/metrics`,
    });
  }

  /** Ends the observation and returns what was seen of each process that ran since {@link begin}. */
  async end(): Promise<Observed[]> {
    await this.#look();
    return this.#seen.splice(0);
  }

  /** Replaces the process by a new one, which is in the Service only once it is ready. */
  async restart(signal: NodeJS.Signals): Promise<void> {
    await this.stop(signal);
    await this.#group.remove();
    this.#group = new ControlGroup('replica', { memory: containerMemory });
    await this.#run();
    await this.begin();
    await eventually(async () => {
      if (!(await this.#ops('/readyz')).ok) throw new Error(`${this.name} is not ready`);
    }, 60);
    await this.#setReady(true);
  }

  async stop(signal: NodeJS.Signals): Promise<void> {
    await this.#setReady(false);
    // no event announces that the API server no longer uses this endpoint
    await sleep(500);
    await this.#look();
    await this.#running?.end(signal);
  }

  async close(): Promise<void> {
    await this.#running?.end('SIGKILL');
    await this.#group.remove();
  }

  async #run(): Promise<void> {
    this.#running = await startPod(this.#cluster, this.#pod, {
      enclose: (command) => this.#group.inside(command),
      // otherwise a replica that restarts waits for 25 s until its idle connections are cut
      args: ['--drain-timeout', '8s'],
    });
  }

  async #look(): Promise<void> {
    const seen = await this.#observation?.stop();
    this.#observation = undefined;
    if (seen !== undefined) this.#seen.push(seen);
  }

  #ops(path: string): Promise<Response> {
    if (this.#running === undefined) throw new Error(`${this.name} does not run`);
    return this.#running.ops(path);
  }

  async #setReady(ready: boolean): Promise<void> {
    const lastTransitionTime = new Date().toISOString();
    const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False', lastTransitionTime }];
    await this.#cluster.api.patch(`${podsOf('cni-gate')}/${this.name}/status`, { status: { conditions } });
    await endpoints(this.#cluster, ready ? 2 : 1);
  }
}
