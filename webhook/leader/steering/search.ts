import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NodeFacts } from '../../core/facts/node.ts';
import type { PendingPod } from '../../core/facts/pending-pod.ts';
import type { Readiness } from '../../core/networks/readiness.ts';
import { zoneLabel } from '../../core/scheduling/constraints.ts';
import { planLimits } from '../../lib/limits.ts';
import type { TokenBucket } from '../../lib/token-bucket.ts';
import { canTake, type Gate } from '../filters.ts';
import type { Reserve } from './capacity.ts';
import type { PendingIndex } from './pending-index.ts';

/** `node`: where the requests are reserved; `why`: why no node fits; `unknown`: the rate limit ended the search. */
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
  notReady: number;
}

/**
 * Returns a function that finds nodes for pods with the same requirements, and compares each node only once, or once
 * for each zone of the pods' volumes. The function throws a ClusterError, or the signal's reason.
 */
export function nodeSearch({ readiness, gate, pods, reserve, bucket }: SearchInputs) {
  const known = new Map<string | undefined, Found>();
  /** Nodes that this search chose. The watch may not have reported their nominations yet. */
  const chosen = new Set<string>();
  const begun = Date.now();
  let placed = 0;

  /** Rotates the nodes: the first one differs for each search and pod, so that every node is eventually the first. */
  function inOrder(nodes: readonly NodeFacts[]): NodeFacts[] {
    const start = (begun + placed) % nodes.length;
    return [...nodes.slice(start), ...nodes.slice(0, start)];
  }

  /** Compares all nodes with a pod. Yields to the event loop, for admission calls and the renewal of the Lease. */
  async function compare(pod: PendingPod, signal: AbortSignal): Promise<Found> {
    // the scheduler chose the refused node, so the pod's volumes can be used in that node's zone
    const zone = pod.hasVolumes ? readiness.node(pod.refused ?? '')?.labels[zoneLabel] : undefined;
    const before = known.get(zone);
    if (before !== undefined) return before;
    const found: Found = { fitting: [], notReady: 0 };
    const nodes = [...readiness.nodes()];
    bucket.take(nodes.length);
    for (const [index, node] of nodes.entries()) {
      if (index % planLimits.slice === planLimits.slice - 1) await nextTurn();
      signal.throwIfAborted();
      if (gate(pod.profiles, node.name).kind === 'blocked') found.notReady += 1;
      else if (canTake(node, pod, pod.requests, zone)) found.fitting.push(node);
    }
    known.set(zone, found);
    return found;
  }

  return async (pod: PendingPod, signal: AbortSignal): Promise<Placement> => {
    const { fitting, notReady } = await compare(pod, signal);
    for (const node of inOrder(fitting)) {
      const isChosen = pods.nominatedFor(node.name).length > 0 || chosen.has(node.name);
      // on a node with status `try`, the gate allows neither a second pod, nor the pod that it has just refused there
      const isTaken = isChosen || node.name === pod.refused;
      if (isTaken && gate(pod.profiles, node.name).kind === 'try') continue;
      const isFree = await reserve(node, pod.requests, signal);
      if (isFree === undefined) return 'unknown';
      if (!isFree) continue;
      chosen.add(node.name);
      placed += 1;
      return { node: node.name };
    }
    // all pods of this search have the same requirements, so these nodes are full or taken for the other pods too
    fitting.length = 0;
    const unready = `nodes that are not ready for ${pod.profiles.join(', ')}: ${notReady}`;
    return { why: `${unready}; no other node fits the pod and has free capacity` };
  };
}
