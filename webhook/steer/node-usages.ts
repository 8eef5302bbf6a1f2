import type { ApiClient } from '../kubernetes/client.ts';
import { TooLarge } from '../kubernetes/exchange.ts';
import { objectBytes, placedPods } from '../lib/limits.ts';
import { TokenBucket } from '../lib/token-bucket.ts';
import { type ApiPlacedPod, type NodeUsage, NodeUsageCounter, unreadableUsage } from './node-usage.ts';

/** How long an answer is used, in milliseconds. */
const remember = 5000;

/** Requests a second, and at once after a pause. */
const perSecond = 10;
const burst = 20;

/** An answer is used for at least so many times as long as it took. */
const restFactor = 10;

/** Requests in parallel. */
const atATime = 4;

/**
 * What the pods on nodes take of them. A watch of every pod of a cluster would cost more than all other watches
 * together, so the API server lists the pods of single nodes when they matter. It answers from its cache, which is
 * indexed by node, and in one piece: pages would come from its database, which has no such index. The answer is read
 * pod by pod, so its size does not matter: 110 common pods are two megabytes, and anybody can create large ones.
 */
export class NodeUsages {
  readonly #client: ApiClient;
  readonly #answers = new Map<string, { usage: NodeUsage; until: number }>();
  readonly #rate = new TokenBucket(perSecond, burst);

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** @param now milliseconds of a clock that does not go back, as below */
  get(node: string, now: number): NodeUsage | undefined {
    const answer = this.#answers.get(node);
    return answer !== undefined && now < answer.until ? answer.usage : undefined;
  }

  /**
   * Requests the usage of nodes, of as many as the rate allows.
   *
   * @returns whether anything was learned
   * @throws ClusterError
   */
  async ask(nodes: readonly string[], now: number, signal: AbortSignal): Promise<boolean> {
    for (const [node, { until }] of this.#answers) if (until <= now) this.#answers.delete(node);
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
      // a node with a large answer is asked about less often, and uses up more of the rate
      const until = now + Math.max(remember, restFactor * (performance.now() - began));
      this.#answers.set(node, { usage, until });
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
