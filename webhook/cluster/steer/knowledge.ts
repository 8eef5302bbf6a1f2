import type { Plan } from '../../steer/plan.ts';
import type { Room } from '../../steer/room.ts';
import type { VolumeWish } from '../../steer/volumes.ts';
import type { WaitingPod } from '../../steer/waiting.ts';
import type { ApiClient } from '../client.ts';
import { Claims } from './claims.ts';
import { Rooms } from './rooms.ts';

/** What is not watched, and asked for when it matters. */
export class Knowledge {
  readonly #rooms: Rooms;
  readonly #claims: Claims;

  constructor(client: ApiClient) {
    this.#rooms = new Rooms(client);
    this.#claims = new Claims(client);
  }

  room(node: string): Room | undefined {
    return this.#rooms.get(node, performance.now());
  }

  volumes(pod: WaitingPod): VolumeWish | undefined {
    return this.#claims.get(pod, performance.now());
  }

  /**
   * Asks about what would make a better plan.
   *
   * @param warn told where claims cannot be read: pods that have none are sent elsewhere all the same
   * @returns whether anything was learned
   * @throws ClusterError where nodes cannot be asked about
   */
  async learn(
    { rooms, volumes }: Plan['unknown'],
    warn: (error: unknown) => void,
    signal: AbortSignal,
  ): Promise<boolean> {
    const now = performance.now();
    const learned = await Promise.all([
      this.#rooms.ask(rooms, now, signal),
      this.#claims.ask(volumes, now, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        warn(error);
        return false;
      }),
    ]);
    return learned.includes(true);
  }
}
