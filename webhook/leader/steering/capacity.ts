import type { ApiClient } from '../../cluster/client.ts';
import type { NodeFacts } from '../../core/facts/node.ts';
import {
  type Amounts,
  addAll,
  fits,
  podRequests,
  type RequestingSpec,
  subtract,
} from '../../core/scheduling/requests.ts';
import { placedPods, trustedObjectBytes } from '../../lib/limits.ts';
import { TokenBucket } from '../../lib/token-bucket.ts';
import type { PendingIndex } from './pending-index.ts';

/** For how long, in milliseconds, a node's free amounts are reused. */
const remember = 5000;

/** `until` is in milliseconds of a monotonic clock. */
type Free = { amounts: Amounts; until: number };

/**
 * Reserves amounts on a node until the node's pods are listed again. Returns false if the amounts are not free, and
 * undefined if the rate limit allows no request. Throws a ClusterError.
 */
export type Reserve = ReturnType<typeof capacity>;

/**
 * Computes the free amounts of nodes. cni-gate lists the pods of single nodes, because a watch of all pods would cost
 * more than all other watches together. The list has no pages, so the API server answers it from its cache, which has
 * an index by node. For pages, the API server would read etcd, which has no such index.
 *
 * @param pods nominated pods, which count as if they were bound to the nominated nodes
 */
export function capacity(client: ApiClient, pods: Pick<PendingIndex, 'nominatedFor'>) {
  const all = new Map<string, Free>();
  const rate = new TokenBucket(placedPods.perSecond, placedPods.burst);
  const current = (node: string): Free | undefined => {
    const free = all.get(node);
    return free !== undefined && performance.now() < free.until ? free : undefined;
  };
  const ask = async ({ name, allocatable }: NodeFacts, signal: AbortSignal): Promise<Free | undefined> => {
    if (rate.left(performance.now()) < 1) return undefined;
    rate.take(1);
    const { taken, bytes } = await requestsOn(client, name, signal);
    // a large answer costs more tokens
    rate.take(Math.floor(bytes / placedPods.bytesOfAQuestion));
    // during this request, another call may have listed the node's pods and reserved amounts
    const known = current(name);
    if (known !== undefined) return known;
    const now = performance.now();
    for (const [node, { until }] of all) if (until <= now) all.delete(node);
    const expected = pods.nominatedFor(name).map(({ requests }) => requests);
    const free = { amounts: subtract(allocatable, addAll([taken, ...expected])), until: now + remember };
    all.set(name, free);
    return free;
  };
  return async (node: NodeFacts, requests: Amounts, signal: AbortSignal): Promise<boolean | undefined> => {
    const free = current(node.name) ?? (await ask(node, signal));
    if (free === undefined) return undefined;
    if (!fits(requests, free.amounts)) return false;
    free.amounts = subtract(free.amounts, requests);
    return true;
  };
}

/** The requests of all pods on a node, and the size of their list. */
async function requestsOn(client: ApiClient, node: string, signal: AbortSignal) {
  const fieldSelector = `spec.nodeName=${node},status.phase!=Succeeded,status.phase!=Failed`;
  const query = { fieldSelector, resourceVersion: '0' };
  const amounts: Amounts[] = [];
  const options = { layout: 'list', maxObject: trustedObjectBytes, query, signal } as const;
  const list = await client.stream('/api/v1/pods', options);
  for await (const { text, isCut } of list)
    amounts.push(isCut ? { pods: 1 } : podRequests((JSON.parse(text) as { spec: RequestingSpec }).spec));
  return { taken: addAll(amounts), bytes: list.bytes() };
}
