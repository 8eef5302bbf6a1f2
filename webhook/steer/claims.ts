import { apiPath } from '../kubernetes/api-path.ts';
import type { ApiClient } from '../kubernetes/client.ts';
import { ClusterError } from '../kubernetes/errors.ts';
import { own } from '../lib/own.ts';
import { TokenBucket } from '../lib/token-bucket.ts';
import type { NodeSelectorTerm } from '../scheduling/node-selector.ts';
import type { PendingPod } from './pending-pod.ts';
import { TtlCache } from './ttl-cache.ts';
import type { VolumeConstraints } from './volumes.ts';

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
  readonly #cache = new TtlCache<VolumeConstraints>();
  readonly #rate = new TokenBucket(perSecond, burst);

  constructor(client: ApiClient) {
    this.#client = client;
  }

  get({ uid }: PendingPod, now: number): VolumeConstraints | undefined {
    return this.#cache.get(uid, now);
  }

  /**
   * Asks about the claims of pods, of as many as may be asked about now. A pod whose claim does not exist stays
   * unknown: it cannot be scheduled.
   *
   * @returns whether anything was learned
   * @throws ClusterError
   */
  async ask(pods: readonly PendingPod[], now: number, signal: AbortSignal): Promise<boolean> {
    this.#cache.sweep(now);
    const some = pods.slice(0, this.#rate.left(now));
    this.#rate.take(some.length);
    await Promise.all(
      some.map(async (pod) => {
        const constraints = await this.#constraints(pod, signal);
        if (constraints !== undefined) this.#cache.set(pod.uid, constraints, now + remember);
      }),
    );
    return some.length > 0;
  }

  async #constraints(
    { namespace, claims }: PendingPod,
    signal: AbortSignal,
  ): Promise<VolumeConstraints | undefined> {
    const constraints: VolumeConstraints = { affinities: [], selected: [] };
    for (const name of claims) {
      const path = apiPath`/api/v1/namespaces/${namespace}/persistentvolumeclaims/${name}`;
      const claim = await this.#get<Claim>(path, signal);
      if (claim === undefined) return undefined;
      const { volumeName } = claim.spec;
      if (volumeName) {
        const volume = await this.#get<Volume>(apiPath`/api/v1/persistentvolumes/${volumeName}`, signal);
        if (volume === undefined) return undefined;
        const required = volume.spec.nodeAffinity?.required;
        if (required) constraints.affinities.push(required.nodeSelectorTerms ?? []);
      } else {
        const selected = own(claim.metadata.annotations, selectedNode);
        if (selected) constraints.selected.push(selected);
      }
    }
    return constraints;
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
