import type { ApiClient } from '../../cluster/client.ts';
import type { Event } from '../../cluster/events/event.ts';
import { messageOf } from '../../lib/errors.ts';
import type { PodEvidence } from '../../nodes/evidence/facts.ts';
import type { LeaderDeps } from '../controller.ts';
import {
  hasEvent,
  isReportedAtOnce,
  onWorkload,
  podEvent,
  type RepairAction,
  skippedPodEvent,
} from './events.ts';
import type { Recreation, SkippedPod, SkipReason } from './types.ts';
import { WorkloadsOfPods } from './workloads.ts';

/** Room in the queue of events that other events may need. */
const reserve = 100;

/**
 * A pod has to be left alone for this time before an event says so, in milliseconds. A node that boots is mostly ready
 * sooner. The event follows within a minute, also where all pods of a full node wait.
 */
const long = 45_000;

/** No event is about a pod that ended longer ago, in milliseconds: pods of finished Jobs stay for days, and leaders change. */
const recent = 600_000;

/** Says what repair does: in the log, and in events on pods and on the workloads that they belong to. */
export class Reporter {
  readonly #workloads: WorkloadsOfPods;
  readonly #options: Pick<LeaderDeps<unknown>, 'events' | 'log'>;
  /** The pods that are left alone: since when, whatever the reason was, and the occasion of the last event. By UID. */
  readonly #skipped = new Map<string, { since: number; reason: SkipReason; reported: string }>();

  constructor(client: ApiClient, options: Pick<LeaderDeps<unknown>, 'events' | 'log'>) {
    this.#workloads = new WorkloadsOfPods(client);
    this.#options = options;
  }

  /** How many pods are left alone for each reason. */
  get counts(): Map<SkipReason, number> {
    const counts = new Map<SkipReason, number>();
    for (const { reason } of this.#skipped.values()) counts.set(reason, (counts.get(reason) ?? 0) + 1);
    return counts;
  }

  /** A pod is recreated, or would be. */
  async recreated(recreation: Recreation, action: RepairAction): Promise<void> {
    const { pod, how, why } = recreation;
    const { node, controller } = pod;
    const name = nameOf(pod);
    const isDone = action === 'recreated' ? 'is' : 'would be';
    this.#options.log.info(
      { pod: name, node, owner: controller?.name, how, why },
      `pod ${name}, whose proof failed on node ${node}, ${isDone} recreated: ${why}`,
    );
    this.#skipped.delete(pod.uid);
    await this.#add(podEvent(recreation, action), pod);
  }

  /** A pod is left alone. */
  async skipped(left: SkippedPod): Promise<void> {
    const { pod, reason } = left;
    const now = Date.now();
    const known = this.#skipped.get(pod.uid) ?? { since: now, reason, reported: '' };
    known.reason = reason;
    this.#skipped.set(pod.uid, known);
    if (!hasEvent(reason) || this.#options.events.capacity < reserve) return;
    if (pod.ended && now - (pod.at ?? pod.createdAt) > recent) return;
    if (!isReportedAtOnce(reason) && now - known.since < long) return;
    const event = skippedPodEvent(left);
    if (known.reported === event.occasion) return;
    known.reported = event.occasion;
    await this.#add(event, pod);
  }

  /** A pod could not be deleted, and the reason is about this pod alone. */
  failed(pod: PodEvidence, error: unknown): void {
    this.#options.log.warn({ err: error }, `pod ${nameOf(pod)} cannot be recreated: ${messageOf(error)}`);
  }

  /** A pod is gone, or is no longer failed. */
  forget(uid: string): void {
    this.#skipped.delete(uid);
  }

  /** The event on the workload outlives the pod. */
  async #add(event: Event, pod: PodEvidence): Promise<void> {
    const { events } = this.#options;
    events.add(event);
    const { controller } = pod;
    // a Node, which is the controller of a static pod, has no namespace
    if (controller === undefined || controller.kind === 'Node') return;
    events.add(onWorkload(await this.#workloads.of(pod, controller), event, Date.now()));
  }
}

const nameOf = ({ namespace, name }: PodEvidence): string => `${namespace}/${name}`;
