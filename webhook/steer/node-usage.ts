import { type OwnedMetadata, ownerKeyOf } from '../evidence/owner.ts';
import { placedPods } from '../lib/limits.ts';
import { type Amounts, addAll } from '../scheduling/amounts.ts';
import { podRequests, type RequestingSpec } from '../scheduling/requests.ts';

/** The parts of a pod on a node that {@link NodeUsageCounter} reads, as the API gives them. */
export interface ApiPlacedPod {
  metadata: OwnedMetadata & { resourceVersion: string; name: string };
  spec: RequestingSpec;
}

/** What is taken of a node. */
export interface Taken {
  amounts: Amounts;
  /** The number of its pods by group: {@link ownerKeyOf}. */
  groups: ReadonlyMap<string, number>;
}

/** What the pods on a node took of it at some time. */
export interface NodeUsage extends Taken {
  /** UIDs of the pods that are counted. */
  pods: ReadonlySet<string>;
  /** When it was requested, milliseconds since the epoch. */
  at: number;
}

/** Adds up what the pods on a node take of it, one by one, and keeps no more of each than that needs. */
export class NodeUsageCounter {
  readonly #amounts = new Map<string, number>();
  readonly #groups = new Map<string, number>();
  readonly #pods = new Set<string>();

  add({ metadata, spec }: ApiPlacedPod): void {
    const group = ownerKeyOf(metadata);
    this.#groups.set(group, (this.#groups.get(group) ?? 0) + 1);
    this.#pods.add(metadata.uid);
    this.#take(podRequests(spec));
  }

  /** A pod that is too large to be read. */
  addUnread(): void {
    this.#take({ pods: 1 });
  }

  /** @param at when the pods were requested, milliseconds since the epoch */
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

/** The usage of a node whose pods are too many bytes to be read: it counts as full. */
export const unreadableUsage = (at: number): NodeUsage => ({
  amounts: { pods: Number.POSITIVE_INFINITY },
  groups: new Map(),
  pods: new Set(),
  at,
});

/** A pod that was nominated for a node, or was bound there and may not be counted yet. */
export interface Expected {
  uid: string;
  node: string;
  group: string;
  requests: Amounts;
  /** When it no longer waited, milliseconds since the epoch; undefined while it waits. */
  leftAt: number | undefined;
}

/** The API server answers from its cache, so a list may be a little older than its request. Milliseconds. */
const listLag = 1000;

/** What is taken of a node with the pods that are expected there. */
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
