import { own } from '../../own.ts';
import type { NodeSelectorTerm } from '../../scheduling/node-selector.ts';
import { Rate } from '../../steer/rate.ts';
import type { VolumeWish } from '../../steer/volumes.ts';
import type { WaitingPod } from '../../steer/waiting.ts';
import { apiPath } from '../api-path.ts';
import type { ApiClient } from '../client.ts';
import { ClusterError } from '../errors.ts';
import { Memory } from './memory.ts';

interface Claim {
  metadata: { annotations?: Record<string, string> | null };
  spec: { volumeName?: string };
}

interface Volume {
  spec: { nodeAffinity?: { required?: { nodeSelectorTerms?: NodeSelectorTerm[] | null } | null } | null };
}

/** Kubernetes: the node for which the scheduler let a volume be made. */
const selectedNode = 'volume.kubernetes.io/selected-node';

const remember = 10_000;
const perSecond = 10;
const burst = 20;

/** Where the volumes of pods can be used: asked for when a pod with claims waits, never watched. */
export class Claims {
  readonly #client: ApiClient;
  readonly #memory = new Memory<VolumeWish>();
  readonly #rate = new Rate(perSecond, burst);

  constructor(client: ApiClient) {
    this.#client = client;
  }

  get({ uid }: WaitingPod, now: number): VolumeWish | undefined {
    return this.#memory.get(uid, now);
  }

  /**
   * Asks about the claims of pods, of as many as may be asked about now. A pod whose claim does not exist stays
   * unknown: it cannot be scheduled.
   *
   * @returns whether anything was learned
   * @throws ClusterError
   */
  async ask(pods: readonly WaitingPod[], now: number, signal: AbortSignal): Promise<boolean> {
    this.#memory.sweep(now);
    const some = pods.slice(0, this.#rate.left(now));
    this.#rate.take(some.length);
    await Promise.all(
      some.map(async (pod) => {
        const wish = await this.#wish(pod, signal);
        if (wish !== undefined) this.#memory.set(pod.uid, wish, now + remember);
      }),
    );
    return some.length > 0;
  }

  async #wish({ namespace, claims }: WaitingPod, signal: AbortSignal): Promise<VolumeWish | undefined> {
    const wish: VolumeWish = { affinities: [], selected: [] };
    for (const name of claims) {
      const path = apiPath`/api/v1/namespaces/${namespace}/persistentvolumeclaims/${name}`;
      const claim = await this.#get<Claim>(path, signal);
      if (claim === undefined) return undefined;
      const { volumeName } = claim.spec;
      if (volumeName) {
        const volume = await this.#get<Volume>(apiPath`/api/v1/persistentvolumes/${volumeName}`, signal);
        if (volume === undefined) return undefined;
        const required = volume.spec.nodeAffinity?.required;
        if (required) wish.affinities.push(required.nodeSelectorTerms ?? []);
      } else {
        const selected = own(claim.metadata.annotations, selectedNode);
        if (selected) wish.selected.push(selected);
      }
    }
    return wish;
  }

  async #get<T>(path: string, signal: AbortSignal): Promise<T | undefined> {
    try {
      return await this.#client.request<T>('GET', path, { signal });
    } catch (error) {
      if (error instanceof ClusterError && error.status === 404) return undefined;
      throw error;
    }
  }
}
