import { placedPods } from '../lib/limits.ts';
import { type Amounts, addAll, subtract } from '../scheduling/amounts.ts';
import { podRequests, type RequestingSpec } from '../scheduling/requests.ts';
import type { PlacedPod } from './neighbours.ts';
import { groupOf } from './pending-pod.ts';

/** The parts of a pod on a node that {@link usageOf} reads, as the API gives them. */
export interface ApiPlacedPod {
  metadata: {
    uid: string;
    resourceVersion: string;
    namespace?: string;
    name: string;
    labels?: Record<string, string>;
    deletionTimestamp?: string | null;
    ownerReferences?: { uid: string; controller?: boolean | null }[] | null;
  };
  spec: RequestingSpec;
}

/** What is taken of a node. */
export interface Taken {
  amounts: Amounts;
  /** How many of its pods belong to a group: {@link groupOf}. */
  groups: ReadonlyMap<string, number>;
}

/** What the pods on a node took of it at some time. */
export interface NodeUsage extends Taken {
  /** The pods that are counted, by UID. */
  pods: ReadonlyMap<string, PlacedPod>;
  /** When it was asked for, milliseconds since the epoch. */
  at: number;
}

/** Counts what the pods on a node take of it, one after another, and keeps no more of each than that needs. */
export class NodeUsageCounter {
  readonly #amounts = new Map<string, number>();
  readonly #groups = new Map<string, number>();
  readonly #pods = new Map<string, PlacedPod>();

  add({ metadata, spec }: ApiPlacedPod): void {
    const { uid, namespace = '', labels, deletionTimestamp } = metadata;
    const group = groupOf(metadata);
    this.#groups.set(group, (this.#groups.get(group) ?? 0) + 1);
    this.#pods.set(uid, {
      namespace,
      labels: shortLabels(labels ?? {}),
      leaving: typeof deletionTimestamp === 'string',
    });
    this.#take(podRequests(spec));
  }

  /** A pod about which nothing more is known: one that is too large to be read. */
  addUnread(): void {
    this.#take({ pods: 1 });
  }

  /** @param at when the pods were asked for, milliseconds since the epoch */
  usage(at: number): NodeUsage {
    return { amounts: Object.fromEntries(this.#amounts), groups: this.#groups, pods: this.#pods, at };
  }

  #take(requests: Amounts): void {
    const { pods = 0, ...others } = requests;
    const some = Object.entries(others).slice(0, placedPods.resources);
    for (const [name, amount] of [['pods', pods] as const, ...some]) {
      this.#amounts.set(name, (this.#amounts.get(name) ?? 0) + amount);
    }
  }
}

/** The labels of a pod, or none where there is more of them than is kept. */
function shortLabels(labels: Record<string, string>): Record<string, string> {
  let characters = 0;
  for (const [key, value] of Object.entries(labels)) characters += key.length + value.length;
  return characters <= placedPods.labelCharacters ? labels : {};
}

/**
 * @param pods those on the node that have not ended
 * @param at when they were asked for, milliseconds since the epoch
 */
export function usageOf(pods: readonly ApiPlacedPod[], at: number): NodeUsage {
  const count = new NodeUsageCounter();
  for (const pod of pods) count.add(pod);
  return count.usage(at);
}

/** A node about whose pods more is to be said than can be read: nobody is sent there. */
export const unreadableUsage = (at: number): NodeUsage => ({
  amounts: { pods: Number.POSITIVE_INFINITY },
  groups: new Map(),
  pods: new Map(),
  at,
});

/** A pod that is to be on a node, or is there and may not be counted yet. */
export interface Expected {
  uid: string;
  node: string;
  group: string;
  requests: Amounts;
  /** When it was no longer seen waiting, milliseconds since the epoch; undefined while it waits. */
  leftAt: number | undefined;
}

/** A list may be a little older than its question: it comes from the API server's cache. */
const listLag = 1000;

/** What is taken of a node once those that are expected there have come. */
export function takenWith(usage: NodeUsage, expected: readonly Expected[]): Taken {
  const groups = new Map(usage.groups);
  const amounts = [usage.amounts];
  for (const { uid, group, requests, leftAt } of expected) {
    if (usage.pods.has(uid) || (leftAt !== undefined && leftAt + listLag < usage.at)) continue;
    amounts.push(requests);
    groups.set(group, (groups.get(group) ?? 0) + 1);
  }
  return { amounts: addAll(amounts), groups };
}

/** What is left. */
export const freeOf = (allocatable: Amounts, { amounts }: Taken): Amounts => subtract(allocatable, amounts);
