import { Rate } from '../../steer/rate.ts';
import { type ApiPlacedPod, crowdedRoom, type Room, roomOf } from '../../steer/room.ts';
import type { ApiClient } from '../client.ts';
import { TooLarge } from '../exchange.ts';
import { Memory } from './memory.ts';

/** How long what is known of a node is good for, in milliseconds. */
const remember = 5000;

/** So many nodes are asked about: a second, and at once after a rest. */
const perSecond = 10;
const burst = 20;

/** So many side by side, and so many bytes each: 110 common pods have two megabytes, and anybody may make large ones. */
const atATime = 4;
const maxBytes = 16 * 2 ** 20;

type PodList = { items?: ApiPlacedPod[] | null };

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
    for (let next = 0; next < some.length; next += atATime) {
      await Promise.all(some.slice(next, next + atATime).map((node) => this.#askOne(node, now, signal)));
    }
    return some.length > 0;
  }
  async #askOne(node: string, now: number, signal: AbortSignal): Promise<void> {
    const at = Date.now();
    const fieldSelector = `spec.nodeName=${node},status.phase!=Succeeded,status.phase!=Failed`;
    const query = { fieldSelector, resourceVersion: '0' };
    try {
      const options = { query, maxBytes, signal };
      const { items } = await this.#client.request<PodList>('GET', '/api/v1/pods', options);
      this.#memory.set(node, roomOf(items ?? [], at), now + remember);
    } catch (error) {
      if (!(error instanceof Error && error.cause instanceof TooLarge)) throw error;
      this.#memory.set(node, crowdedRoom(at), now + remember);
    }
  }
}
