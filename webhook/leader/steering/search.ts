import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NodeFacts } from '../../core/facts/node.ts';
import type { PendingPod } from '../../core/facts/pending-pod.ts';
import type { Readiness } from '../../core/networks/readiness.ts';
import { zoneLabel } from '../../core/scheduling/constraints.ts';
import { planLimits } from '../../lib/limits.ts';
import type { TokenBucket } from '../../lib/token-bucket.ts';
import { type FilterReason, filterNode, filterText, type Gate } from '../filters.ts';
import type { Reserve } from './capacity.ts';
import type { PendingIndex } from './pending-index.ts';

/** Searches for consecutive pods start at this many different nodes. More would need more requests for capacity. */
const spread = 8;
/** After this many milliseconds, searches start at a later node, so that each node is eventually tried first. */
const turn = 10_000;
/** By how many nodes the start of the searches moves forward after each {@link turn}. */
const stride = 61;

/** `node`: the pod's requests are reserved there; `why`: no node fits; `unknown`: the rate limit ended the search. */
export type Placement = { node: string } | { why: string } | 'unknown';

interface SearchInputs {
  readiness: Pick<Readiness, 'node' | 'nodes'>;
  gate: Gate;
  pods: Pick<PendingIndex, 'nominatedFor'>;
  reserve: Reserve;
  /** Each comparison of a pod with a node takes a token. */
  bucket: TokenBucket;
}

interface Found {
  /** Nodes that pass all filters; their free capacity is not checked yet. */
  fitting: NodeFacts[];
  counts: Map<FilterReason, number>;
}

/**
 * Returns a function that finds nodes for pods with the same requirements, and compares each node only once, or once
 * for each zone of the pods' volumes. It throws a ClusterError, or the signal's reason.
 */
export function nodeSearch({ readiness, gate, pods, reserve, bucket }: SearchInputs) {
  const known = new Map<string | undefined, Found>();
  /** Nodes chosen by this search, whose nominations the watch has not reported yet. */
  const chosen = new Set<string>();
  let placed = 0;

  /** Yields all nodes. The first node depends on the key, the time and the number of placed pods. */
  function* inOrder(nodes: readonly NodeFacts[], key: string): Generator<NodeFacts> {
    const ofKey = Buffer.from(key.slice(-8), 'base64url').readUInt16BE();
    const start = ofKey + Math.floor(Date.now() / turn) * stride + (placed % spread);
    for (const index of nodes.keys()) {
      const node = nodes[(start + index) % nodes.length];
      if (node !== undefined) yield node;
    }
  }

  /** Compares all nodes with a pod. Yields to the event loop, for admission calls and the renewal of the Lease. */
  async function compare(pod: PendingPod, signal: AbortSignal): Promise<Found> {
    // the scheduler chose the refused node, so the pod's volumes can be used in that node's zone
    const zone = pod.hasVolumes ? readiness.node(pod.refused ?? '')?.labels[zoneLabel] : undefined;
    const before = known.get(zone);
    if (before !== undefined) return before;
    const found: Found = { fitting: [], counts: new Map() };
    const nodes = [...readiness.nodes()];
    bucket.take(nodes.length);
    for (const [index, node] of nodes.entries()) {
      if (index % planLimits.slice === planLimits.slice - 1) await nextTurn();
      signal.throwIfAborted();
      const reason = filterNode(pod, node, gate, zone);
      if (reason === undefined) found.fitting.push(node);
      else found.counts.set(reason, (found.counts.get(reason) ?? 0) + 1);
    }
    known.set(zone, found);
    return found;
  }

  return async (pod: PendingPod, signal: AbortSignal): Promise<Placement> => {
    const { fitting, counts } = await compare(pod, signal);
    for (const node of inOrder(fitting, pod.key)) {
      const isChosen = pods.nominatedFor(node.name).length > 0 || chosen.has(node.name);
      // on a node with status `try`, the gate allows one pod at a time, and has just refused this pod
      const isTaken = isChosen || node.name === pod.refused;
      if (isTaken && gate(pod.profiles, node.name).kind === 'try') continue;
      const isFree = await reserve(node, pod.requests, signal);
      if (isFree === undefined) return 'unknown';
      if (!isFree) continue;
      chosen.add(node.name);
      placed += 1;
      return { node: node.name };
    }
    // all pods of this search have the same requirements, so these nodes are full or taken for them too
    const full = fitting.splice(0).length;
    if (full > 0) counts.set('full', full);
    return { why: filterText(counts, pod) };
  };
}
