import type { ApiClient } from '../kubernetes/client.ts';
import { Claims } from './claims.ts';
import type { NodeUsage } from './node-usage.ts';
import { NodeUsages } from './node-usages.ts';
import type { PendingPod } from './pending-pod.ts';
import type { Plan } from './plan.ts';
import type { VolumeConstraints } from './volumes.ts';

/** What is not watched, and asked for when it matters. */
export class Knowledge {
  readonly #usages: NodeUsages;
  readonly #claims: Claims;

  constructor(client: ApiClient) {
    this.#usages = new NodeUsages(client);
    this.#claims = new Claims(client);
  }

  usage(node: string): NodeUsage | undefined {
    return this.#usages.get(node, performance.now());
  }

  volumes(pod: PendingPod): VolumeConstraints | undefined {
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
    { usages, volumes }: Plan['unknown'],
    warn: (error: unknown) => void,
    signal: AbortSignal,
  ): Promise<boolean> {
    const now = performance.now();
    const learned = await Promise.all([
      this.#usages.ask(usages, now, signal),
      this.#claims.ask(volumes, now, signal).catch((error: unknown) => {
        signal.throwIfAborted();
        warn(error);
        return false;
      }),
    ]);
    return learned.includes(true);
  }
}
