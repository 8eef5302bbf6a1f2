import type { ApiClient } from '../../cluster/client.ts';
import type { EventRecorder } from '../../cluster/events/recorder.ts';
import type { Log } from '../../lib/deps.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Controller, PodEvidence } from '../../nodes/evidence/facts.ts';
import { ownerKey } from '../../nodes/evidence/owner.ts';
import {
  podEvent,
  type RepairAction,
  skippedPodEvent,
  skippedWorkloadEvent,
  workloadEvent,
} from './events.ts';
import type { Ended } from './memory.ts';
import { SkippedPods } from './skipped-pods.ts';
import type { Recreation, SkippedPod, SkipReason } from './types.ts';
import { WorkloadsOfPods } from './workloads.ts';

/** Recreations of so many milliseconds are one event on their workload. */
const gather = 1000;

/** Room in the queue of events that other events may need. */
const reserve = 100;

/** A workload has one event about pods that are left alone in this time, in milliseconds. */
const pause = 60_000;

/** Recreations of one workload that have no event yet. */
interface Gathered {
  workload: Controller;
  recreations: [Recreation, ...Recreation[]];
}

/** What a {@link Reporter} writes to. */
export interface ReporterOptions {
  events: Pick<EventRecorder, 'add' | 'capacity'>;
  log: Log;
}

/** Says what repair does: in the log, and in events on pods and on the workloads that they belong to. */
export class Reporter {
  readonly #workloads: WorkloadsOfPods;
  readonly #events: ReporterOptions['events'];
  readonly #log: Log;
  readonly #skipped = new SkippedPods();
  /** By workload. */
  readonly #gathered = new Map<string, Gathered>();
  /** By owner: when its workload had an event about a pod that is left alone. */
  readonly #reportedAt = new Map<string, number>();

  constructor(client: ApiClient, { events, log }: ReporterOptions) {
    this.#workloads = new WorkloadsOfPods(client);
    this.#events = events;
    this.#log = log;
  }

  /** How many pods are left alone for each reason. */
  get counts(): ReadonlyMap<SkipReason, number> {
    return this.#skipped.counts;
  }

  /** A pod is recreated, or would be. */
  async recreated(recreation: Recreation, action: RepairAction): Promise<void> {
    const { pod, how, why } = recreation;
    const { node, controller } = pod;
    const name = nameOf(pod);
    const isDone = action === 'recreated' ? 'is' : 'would be';
    this.#log.info(
      { pod: name, node, owner: controller?.name, how, why },
      `pod ${name}, whose proof failed on node ${node}, ${isDone} recreated: ${why}`,
    );
    this.#skipped.forget(pod.uid);
    this.#events.add(podEvent(recreation, action));
    if (controller === undefined) return;
    const workload = await this.#workloads.of(pod, controller);
    const key = ownerKey(pod.namespace, workload);
    const known = this.#gathered.get(key);
    if (known !== undefined) {
      known.recreations.push(recreation);
      return;
    }
    this.#gathered.set(key, { workload, recreations: [recreation] });
    setTimeout(() => this.#flush(key, action), gather).unref();
  }

  /** A pod is left alone. */
  async skipped(left: SkippedPod): Promise<void> {
    const now = performance.now();
    if (!this.#skipped.add(left, now, Date.now()) || this.#events.capacity < reserve) return;
    this.#skipped.reported(left);
    this.#events.add(skippedPodEvent(left));
    const { controller, owner } = left.pod;
    // a Node has no namespace
    if (controller === undefined || left.reason === 'static-pod') return;
    if (now - (this.#reportedAt.get(owner) ?? Number.NEGATIVE_INFINITY) < pause) return;
    this.#reportedAt.set(owner, now);
    this.#events.add(skippedWorkloadEvent(await this.#workloads.of(left.pod, controller), left));
  }

  /** A recreation has its outcome. */
  ended({ recreation: { pod }, outcome, successor }: Ended): void {
    if (outcome !== 'failed' || successor === undefined) return;
    const [name, after] = [nameOf(pod), nameOf(successor)];
    const fields = { pod: name, after, node: successor.node };
    this.#log.info(fields, `the pod that replaced pod ${name} failed too: ${after}`);
  }

  /** A pod could not be deleted, and the reason is about this pod alone. */
  failed(pod: PodEvidence, error: unknown): void {
    this.#log.warn({ err: error }, `pod ${nameOf(pod)} cannot be recreated: ${messageOf(error)}`);
  }

  /** A pod is gone, or is no longer failed. */
  forget(uid: string): void {
    this.#skipped.forget(uid);
  }

  /** Forgets what does not matter any longer; call it now and then. */
  forgetOld(): void {
    const now = performance.now();
    for (const [owner, at] of this.#reportedAt) if (now - at >= pause) this.#reportedAt.delete(owner);
  }

  #flush(key: string, action: RepairAction): void {
    const gathered = this.#gathered.get(key);
    this.#gathered.delete(key);
    if (gathered) this.#events.add(workloadEvent(gathered.workload, gathered.recreations, action));
  }
}

const nameOf = ({ namespace, name }: PodEvidence): string => `${namespace}/${name}`;
