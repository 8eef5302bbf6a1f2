import type { ApiClient } from '../../cluster/client.ts';
import { TooLarge } from '../../cluster/exchange.ts';
import type { NodeFacts } from '../../core/facts/node.ts';
import {
  type Amounts,
  addAll,
  fits,
  podRequests,
  type RequestingSpec,
  subtract,
} from '../../core/scheduling/requests.ts';
import { listItems, placedPods, trustedObjectBytes } from '../../lib/limits.ts';
import { TokenBucket } from '../../lib/token-bucket.ts';
import type { PendingIndex } from './pending-index.ts';

/** How long an answer is used, in milliseconds. */
const remember = 5000;

/** What is free on a node. */
interface Free {
  amounts: Amounts;
  /** On a monotonic clock. */
  until: number;
}

/**
 * What is free on nodes. A watch of every pod of a cluster would cost more than all other watches together, so the API
 * server lists the pods of single nodes when they matter. It answers from its cache, which is indexed by node, and in one
 * piece: pages would come from its database, which has no such index. The answer is read pod by pod, so its size does not
 * matter: 110 common pods are two megabytes, and any tenant can create large ones.
 */
export class Capacity {
  readonly #client: ApiClient;
  readonly #pods: Pick<PendingIndex, 'nominatedFor'>;
  readonly #free = new Map<string, Free>();
  readonly #rate = new TokenBucket(placedPods.perSecond, placedPods.burst);

  /** @param pods those that are nominated for a node and still wait: they are expected there */
  constructor(client: ApiClient, pods: Pick<PendingIndex, 'nominatedFor'>) {
    this.#client = client;
    this.#pods = pods;
  }

  /**
   * Reserves amounts on a node, for as long as its answer is used.
   *
   * @returns whether they are free; undefined where the rate of requests does not allow to find out
   * @throws ClusterError
   */
  async reserve(node: NodeFacts, requests: Amounts, signal: AbortSignal): Promise<boolean | undefined> {
    const free = this.#known(node.name) ?? (await this.#ask(node, signal));
    if (free === undefined) return undefined;
    if (!fits(requests, free.amounts)) return false;
    free.amounts = subtract(free.amounts, requests);
    return true;
  }

  #known(node: string): Free | undefined {
    const free = this.#free.get(node);
    return free !== undefined && performance.now() < free.until ? free : undefined;
  }

  async #ask({ name, allocatable }: NodeFacts, signal: AbortSignal): Promise<Free | undefined> {
    if (this.#rate.left(performance.now()) < 1) return undefined;
    this.#rate.take(1);
    const { taken, bytes } = await this.#taken(name, signal);
    // a large answer uses up more of the rate
    this.#rate.take(Math.floor(bytes / placedPods.bytesOfAQuestion));
    // another run may have asked as well, and reserved
    const known = this.#known(name);
    if (known !== undefined) return known;
    const now = performance.now();
    for (const [node, { until }] of this.#free) if (until <= now) this.#free.delete(node);
    const expected = this.#pods.nominatedFor(name).map(({ requests }) => requests);
    const free = { amounts: subtract(allocatable, addAll([taken, ...expected])), until: now + remember };
    this.#free.set(name, free);
    return free;
  }

  async #taken(node: string, signal: AbortSignal): Promise<{ taken: Amounts; bytes: number }> {
    const fieldSelector = `spec.nodeName=${node},status.phase!=Succeeded,status.phase!=Failed`;
    const query = { fieldSelector, resourceVersion: '0' };
    const { listBytes: maxBytes } = placedPods;
    const all: Amounts[] = [];
    try {
      const list = await this.#client.stream('/api/v1/pods', {
        layout: 'list',
        maxObject: trustedObjectBytes,
        ...{ query, maxBytes, signal },
      });
      for await (const { text, isCut } of list)
        all.push(isCut ? { pods: 1 } : requestsOf(JSON.parse(text) as { spec: RequestingSpec }));
      return { taken: addAll(all), bytes: list.bytes() };
    } catch (error) {
      if (!(error instanceof Error && error.cause instanceof TooLarge)) throw error;
      // pods that are too many bytes to be read: the node counts as full
      return { taken: { pods: Number.POSITIVE_INFINITY }, bytes: maxBytes };
    }
  }
}

/** What a pod requests, of no more than some resources. */
function requestsOf({ spec }: { spec: RequestingSpec }): Amounts {
  const { pods = 1, ...others } = podRequests(spec);
  return { pods, ...Object.fromEntries(Object.entries(others).slice(0, listItems)) };
}
