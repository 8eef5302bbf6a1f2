import { Rate } from '../../steer/rate.ts';
import { type ApiPlacedPod, type Room, roomOf } from '../../steer/room.ts';
import type { ApiClient } from '../client.ts';
import { Memory } from './memory.ts';

/** How long what is known of a node is good for, in milliseconds. */
const remember = 5000;

/** So many nodes are asked about: a second, and at once after a rest. */
const perSecond = 10;
const burst = 20;

/**
 * What is taken of nodes. To watch every pod of a cluster for the sake of a few that wait would cost more than all
 * else together, so the API server is asked for the pods of single nodes, when they matter. It answers from its cache,
 * which has them by node.
 */
export class Rooms {
  readonly #client: ApiClient;
  readonly #memory = new Memory<Room>();
  readonly #rate = new Rate(perSecond, burst);

  constructor(client: ApiClient) {
    this.#client = client;
  }

  /** @param now milliseconds of a clock that does not go back, as below */
  get(node: string, now: number): Room | undefined {
    return this.#memory.get(node, now);
  }

  /**
   * Asks about nodes, as many as may be asked about now.
   *
   * @returns whether anything was learned
   * @throws ClusterError
   */
  async ask(nodes: readonly string[], now: number, signal: AbortSignal): Promise<boolean> {
    this.#memory.sweep(now);
    const some = nodes.slice(0, this.#rate.left(now));
    this.#rate.take(some.length);
    const at = Date.now();
    await Promise.all(
      some.map(async (node) => {
        const { items } = await this.#client.request<{ items?: ApiPlacedPod[] | null }>(
          'GET',
          '/api/v1/pods',
          {
            query: {
              fieldSelector: `spec.nodeName=${node},status.phase!=Succeeded,status.phase!=Failed`,
              resourceVersion: '0',
            },
            signal,
          },
        );
        this.#memory.set(node, roomOf(items ?? [], at), now + remember);
      }),
    );
    return some.length > 0;
  }
}
