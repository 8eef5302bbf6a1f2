import { apiPath } from '../../cluster/api-path.ts';
import type { ApiClient } from '../../cluster/client.ts';
import { ClusterError } from '../../cluster/errors.ts';
import type { Controller, PodEvidence } from '../../core/facts/pod-evidence.ts';
import type { EvidenceView } from '../../core/networks/evidence.ts';
import { getOrMake } from '../../lib/maps.ts';
import { isOf, ordinalOf } from './decide.ts';

/** The part of a StatefulSet that is read, as the API gives it. */
interface StatefulSet {
  metadata: { uid: string };
  spec: { podManagementPolicy?: string };
}

/**
 * The order in which StatefulSets make their pods. With `podManagementPolicy: OrderedReady`, which is the default and
 * cannot be changed, a StatefulSet makes no pod while one with a lower ordinal is not ready.
 */
export class StatefulSets {
  readonly #client: ApiClient;
  readonly #evidence: Pick<EvidenceView, 'ownedBy'>;
  /** By {@link PodEvidence.owner}, of StatefulSets with a failed pod: whether it is ordered. */
  readonly #ordered = new Map<string, boolean>();
  /** By owner: the lowest ordinal whose proof has not passed. */
  readonly #lowest = new Map<string, number>();

  constructor(client: ApiClient, evidence: Pick<EvidenceView, 'ownedBy'>) {
    this.#client = client;
    this.#evidence = evidence;
  }

  /**
   * Reads the StatefulSet of a failed pod, if it has one, once.
   *
   * @throws ClusterError where the API server cannot answer
   */
  async read({ owner, namespace, controller }: PodEvidence): Promise<void> {
    if (controller === undefined || !isOf(controller, 'StatefulSet') || this.#ordered.has(owner)) return;
    this.#ordered.set(owner, await this.#isOrdered(namespace, controller));
  }

  /**
   * The lowest ordinal whose proof has not passed and lets no container start, where the pod's controller is ordered;
   * undefined for any other.
   */
  lowest({ owner }: PodEvidence): number | undefined {
    if (this.#ordered.get(owner) !== true) return undefined;
    return getOrMake(this.#lowest, owner, () => {
      const pods = [...this.#evidence.ownedBy(owner)].filter(
        ({ verdict, warned }) => verdict !== 'passed' && !warned,
      );
      return pods.reduce((least, pod) => Math.min(least, ordinalOf(pod)), Number.POSITIVE_INFINITY);
    });
  }

  /** A pod of the owner changed. */
  changed(owner: string): void {
    this.#lowest.delete(owner);
    if (this.#evidence.ownedBy(owner).next().done) this.#ordered.delete(owner);
  }

  /** One that is gone or may not be read counts as ordered. The name may be that of another one than the pod's. */
  async #isOrdered(namespace: string, { name, uid }: Controller): Promise<boolean> {
    const path = apiPath`/apis/apps/v1/namespaces/${namespace}/statefulsets/${name}`;
    try {
      const found = await this.#client.get<StatefulSet>(path, { timeout: 5000 });
      return found?.metadata.uid !== uid || found.spec.podManagementPolicy !== 'Parallel';
    } catch (error) {
      if (error instanceof ClusterError && error.status === 403) return true;
      throw error;
    }
  }
}
