import { setImmediate as nextTurn } from 'node:timers/promises';
import { planLimits } from '../../lib/limits.ts';
import type { TokenBucket } from '../../lib/token-bucket.ts';
import type { NodeFacts } from '../../nodes/readiness/facts.ts';
import type { Readiness } from '../../nodes/readiness/readiness.ts';
import { zoneLabel } from '../../nodes/scheduling/required.ts';
import type { Gate } from './accepts.ts';
import type { Capacity } from './capacity.ts';
import { type FilterReason, filterNode, filterText } from './filters.ts';
import type { PendingIndex } from './pending-index.ts';
import type { PendingPod } from './pending-pod.ts';

/** The nodes for pods that are alike. */
export interface Found {
  /** Nodes that pass all filters, apart from what runs there. */
  fitting: NodeFacts[];
  /** How many of the others do not pass each filter. */
  counts: Map<FilterReason, number>;
}

/**
 * Compares a pod with all nodes. Admission calls and the renewal of the Lease have their turn in between.
 *
 * @param zone in which the pod's volumes can be used; undefined for any
 * @throws the signal's reason, once it is aborted
 */
export async function findNodes(
  pod: PendingPod,
  nodes: readonly NodeFacts[],
  { gate, zone }: { gate: Gate; zone: string | undefined },
  signal: AbortSignal,
): Promise<Found> {
  const fitting: NodeFacts[] = [];
  const counts = new Map<FilterReason, number>();
  for (const [index, node] of nodes.entries()) {
    if (index % planLimits.slice === planLimits.slice - 1) await nextTurn();
    signal.throwIfAborted();
    const reason = filterNode(pod, node, gate, zone);
    if (reason === undefined) fitting.push(node);
    else counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  return { fitting, counts };
}

/** Nodes that are tried before others, so that few have to be asked about. */
const groupSize = 8;
/** How long the first node is the same, in milliseconds, and how many nodes further it is then. */
const [turn, stride] = [10_000, 61];

/**
 * The nodes in the order in which they are tried: in groups of eight, and in each group the nodes with the fewest open
 * nominations first. The first group depends on the key and on the time, so that pods spread over nodes, and all nodes
 * are tried in a while.
 *
 * @param onNode how many nominations are open for a node
 * @param now milliseconds since the epoch
 */
export function* inOrder(
  nodes: readonly NodeFacts[],
  key: string,
  onNode: (name: string) => number,
  now: number,
): Generator<NodeFacts> {
  const start = Buffer.from(key.slice(-8), 'base64url').readUInt16BE() + Math.floor(now / turn) * stride;
  for (let first = 0; first < nodes.length; first += groupSize) {
    const size = Math.min(groupSize, nodes.length - first);
    const group = Array.from({ length: size }, (_, index) => nodes[(start + first + index) % nodes.length]);
    const known = group.filter((node) => node !== undefined);
    yield* known.sort((one, other) => onNode(one.name) - onNode(other.name));
  }
}

/** The result of a search: a node where the pod's requests are reserved; `why` there is no such node; or it takes more time. */
export type Placement = { node: string } | { why: string } | 'unknown';

/** What a {@link NodeSearch} goes by. */
export interface SearchInputs {
  readiness: Pick<Readiness, 'node' | 'nodes'>;
  gate: Gate;
  pods: Pick<PendingIndex, 'nominatedFor'>;
  capacity: Capacity;
  /** Takes a token for each comparison with a node. */
  bucket: TokenBucket;
}

/** Finds nodes for pods that are alike, one after the other: their nodes are compared once. */
export class NodeSearch {
  readonly #inputs: SearchInputs;
  readonly #found = new Map<string | undefined, Found>();
  /** The nodes that were found, once for each time: the watch reports nominations later. */
  readonly #chosen: string[] = [];

  constructor(inputs: SearchInputs) {
    this.#inputs = inputs;
  }

  /** @throws ClusterError, or the signal's reason */
  async place(pod: PendingPod, signal: AbortSignal): Promise<Placement> {
    const found = await this.#nodesFor(pod, signal);
    const { gate, capacity, pods } = this.#inputs;
    const onNode = (name: string): number =>
      pods.nominatedFor(name).length + this.#chosen.filter((one) => one === name).length;
    for (const node of inOrder(found.fitting, pod.key, onNode, Date.now())) {
      // the gate would refuse a second pod
      if (onNode(node.name) > 0 && gate(pod.profiles, node.name).onePod) continue;
      const expected = () => pods.nominatedFor(node.name).map(({ requests }) => requests);
      const isFree = await capacity.reserve(node, pod.requests, expected, signal);
      if (isFree === undefined) return 'unknown';
      if (!isFree) continue;
      this.#chosen.push(node.name);
      return { node: node.name };
    }
    // the other pods are alike: no node has room for them
    const full = found.fitting.splice(0).length;
    if (full > 0) found.counts.set('full', full);
    return { why: filterText(found.counts, pod) };
  }

  async #nodesFor(pod: PendingPod, signal: AbortSignal): Promise<Found> {
    const { readiness, gate, bucket } = this.#inputs;
    const zone = this.#zoneOf(pod);
    const known = this.#found.get(zone);
    if (known !== undefined) return known;
    const nodes = [...readiness.nodes()];
    bucket.take(nodes.length);
    const found = await findNodes(pod, nodes, { gate, zone }, signal);
    this.#found.set(zone, found);
    return found;
  }

  /** The scheduler chose the refused node, so the volumes can be used in its zone. */
  #zoneOf({ hasVolumes, refused = '' }: PendingPod): string | undefined {
    return hasVolumes ? this.#inputs.readiness.node(refused)?.labels[zoneLabel] : undefined;
  }
}
