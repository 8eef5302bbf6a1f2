import type { ApiClient } from '../kubernetes/client.ts';
import { TooLarge } from '../kubernetes/exchange.ts';
import { objectBytes, placedPods } from '../lib/limits.ts';
import { TokenBucket } from '../lib/token-bucket.ts';
import { type ApiPlacedPod, type NodeUsage, NodeUsageCounter, unreadableUsage } from './node-usage.ts';
import { TtlCache } from './ttl-cache.ts';

/** How long what is known of a node is good for, in milliseconds. */
const remember = 5000;

/** So many nodes are asked about: a second, and at once after a rest. */
const perSecond = 10;
const burst = 20;

/** An answer that took long is good for so many times as long. */
const restFactor = 10;

/** So many side by side. */
const atATime = 4;

/**
 * What is taken of nodes. To watch every pod of a cluster for the sake of a few that wait would cost more than all
 * else together, so the API server is asked for the pods of single nodes, when they matter. It answers from its cache,
 * which has them by node, and in one piece: pages would take it to its database, which has not. The answer is read pod by
 * pod, so it does not matter how large it is: 110 common pods have two megabytes, and anybody may make large ones.
 */
export class NodeUsages {
  readonly #client: ApiClient;
  readonly #cache = new TtlCache<NodeUsage>();
  readonly #rate = new TokenBucket(perSecond, burst);

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** @param now milliseconds of a clock that does not go back, as below */
  get(node: string, now: number): NodeUsage | undefined {
    return this.#cache.get(node, now);
  }

  /**
   * Asks about nodes, as many as may be asked about now.
   *
   * @returns whether anything was learned
   * @throws ClusterError
   */
  async ask(nodes: readonly string[], now: number, signal: AbortSignal): Promise<boolean> {
    this.#cache.sweep(now);
    const some = nodes.slice(0, Math.max(0, this.#rate.left(now)));
    this.#rate.take(some.length);
    for (let next = 0; next < some.length; next += atATime) {
      await Promise.all(some.slice(next, next + atATime).map((node) => this.#askOne(node, now, signal)));
    }
    return some.length > 0;
  }

  async #askOne(node: string, now: number, signal: AbortSignal): Promise<void> {
    const at = Date.now();
    const fieldSelector = `spec.nodeName=${node},status.phase!=Succeeded,status.phase!=Failed`;
    const query = { fieldSelector, resourceVersion: '0' };
    const { listBytes: maxBytes, bytesOfAQuestion } = placedPods;
    const count = new NodeUsageCounter();
    const began = performance.now();
    const keep = (usage: NodeUsage, bytes: number): void => {
      // a node whose answer is large is asked about less often, and leaves fewer questions for others
      const until = now + Math.max(remember, restFactor * (performance.now() - began));
      this.#cache.set(node, usage, until);
      this.#rate.take(Math.floor(bytes / bytesOfAQuestion));
    };
    try {
      const options = { query, maxBytes, objectBytes: objectBytes.placedPod, signal };
      const { bytes } = await this.#client.list('/api/v1/pods', options, (item) => {
        if (item.isTooLarge()) count.addUnread();
        else count.add(JSON.parse(item.text) as ApiPlacedPod);
      });
      keep(count.usage(at), bytes);
    } catch (error) {
      if (!(error instanceof Error && error.cause instanceof TooLarge)) throw error;
      keep(unreadableUsage(at), maxBytes);
    }
  }
}
