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

/** Milliseconds for which the free amounts of a node are used. */
const remember = 5000;

interface Free {
  amounts: Amounts;
  /** Milliseconds of a monotonic clock. */
  until: number;
}

/**
 * What is free on nodes. A watch of every pod would cost more than all other watches together, so cni-gate lists the
 * pods of single nodes. The API server answers from its cache, which has an index by node; a list in pages would come
 * from its database, which has no such index.
 */
export class Capacity {
  readonly #client: ApiClient;
  readonly #pods: Pick<PendingIndex, 'nominatedFor'>;
  readonly #free = new Map<string, Free>();
  readonly #rate = new TokenBucket(placedPods.perSecond, placedPods.burst);

  /** @param pods pods that are nominated for a node count as if they were on that node */
  constructor(client: ApiClient, pods: Pick<PendingIndex, 'nominatedFor'>) {
    this.#client = client;
    this.#pods = pods;
  }

  /**
   * Reserves amounts on a node, for as long as the node's free amounts are used.
   * @returns whether the amounts are free; undefined if the rate limit allows no request
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
    // a concurrent call may have listed the node's pods, and reserved amounts
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
      // the list has more bytes than may be read, so the node counts as full
      return { taken: { pods: Number.POSITIVE_INFINITY }, bytes: maxBytes };
    }
  }
}

/** The requests of a pod, for a limited number of resources. */
function requestsOf({ spec }: { spec: RequestingSpec }): Amounts {
  const { pods = 1, ...others } = podRequests(spec);
  return { pods, ...Object.fromEntries(Object.entries(others).slice(0, listItems)) };
}
