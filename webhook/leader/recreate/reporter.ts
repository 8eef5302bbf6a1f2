import { apiPath } from '../../cluster/api-path.ts';
import type { ApiClient } from '../../cluster/client.ts';
import type { Event } from '../../cluster/events/event.ts';
import { messageOf } from '../../lib/errors.ts';
import type { Controller, PodEvidence } from '../../nodes/evidence/facts.ts';
import type { LeaderDeps } from '../controller.ts';
import { isReportedAtOnce, onWorkload, podEvent, type RepairAction, skippedPodEvent } from './events.ts';
import type { Recreation, SkippedPod, SkipReason } from './types.ts';

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
  readonly #client: ApiClient;
  readonly #options: Pick<LeaderDeps<unknown>, 'events' | 'log'>;
  /** The pods that are left alone: since when, whatever the reason was, and the occasion of the last event. By UID. */
  readonly #skipped = new Map<string, { since: number; reason: SkipReason; reported: string }>();

  constructor(client: ApiClient, options: Pick<LeaderDeps<unknown>, 'events' | 'log'>) {
    this.#client = client;
    this.#options = options;
  }

  /** Why each pod that is left alone is. */
  get reasons(): SkipReason[] {
    return Array.from(this.#skipped.values(), ({ reason }) => reason);
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
    const event = skippedPodEvent(left);
    if (event === undefined || this.#options.events.capacity < reserve) return;
    if (pod.ended && now - (pod.at ?? pod.createdAt) > recent) return;
    if (!isReportedAtOnce(reason) && now - known.since < long) return;
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
  async #add(event: Event, { controller, namespace }: PodEvidence): Promise<void> {
    const { events } = this.#options;
    events.add(event);
    // a Node, which is the controller of a static pod, has no namespace
    if (controller === undefined || controller.kind === 'Node') return;
    events.add(onWorkload(await this.#workloadOf(namespace, controller), event, Date.now()));
  }

  /**
   * The object that users look at: the Deployment of a ReplicaSet, else the pod's controller itself. Never throws: a
   * ReplicaSet that cannot be read stands for itself.
   */
  async #workloadOf(namespace: string, controller: Controller): Promise<Controller> {
    const { apiVersion, kind, name, uid } = controller;
    if (apiVersion !== 'apps/v1' || kind !== 'ReplicaSet') return controller;
    const path = apiPath`/apis/apps/v1/namespaces/${namespace}/replicasets/${name}`;
    try {
      const { metadata } = await this.#client.request<Owned>('GET', path, { timeout: 5000 });
      const above = metadata.ownerReferences?.find((one) => one.controller === true);
      // the API server does not check references: the name may be that of another ReplicaSet
      return metadata.uid === uid && above !== undefined ? above : controller;
    } catch {
      return controller;
    }
  }
}

/** The parts of a ReplicaSet that are read, as the API gives them. */
interface Owned {
  metadata: { uid: string; ownerReferences?: (Controller & { controller?: boolean })[] | null };
}

const nameOf = ({ namespace, name }: PodEvidence): string => `${namespace}/${name}`;
