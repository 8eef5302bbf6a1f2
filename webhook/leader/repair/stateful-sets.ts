import { apiPath } from '../../cluster/api-path.ts';
import type { ApiClient } from '../../cluster/client.ts';
import { ClusterError } from '../../cluster/errors.ts';
import type { Controller, PodEvidence } from '../../core/facts/pod-evidence.ts';
import type { EvidenceView } from '../../core/networks/evidence.ts';
import { getOrMake } from '../../lib/maps.ts';
import { isOf, ordinalOf } from './decide.ts';

interface StatefulSet {
  metadata: { uid: string };
  spec: { podManagementPolicy?: string };
}

/**
 * Finds StatefulSets that make their pods in order: with `podManagementPolicy: OrderedReady`, the default, they make no
 * pod while a pod with a lower ordinal is not ready.
 */
export class StatefulSets {
  readonly #client: ApiClient;
  readonly #evidence: Pick<EvidenceView, 'ownedBy'>;
  /** Whether a StatefulSet with a failed pod makes its pods in order; by {@link PodEvidence.owner}. */
  readonly #ordered = new Map<string, boolean>();
  readonly #lowest = new Map<string, number>();

  constructor(client: ApiClient, evidence: Pick<EvidenceView, 'ownedBy'>) {
    this.#client = client;
    this.#evidence = evidence;
  }

  /**
   * Reads the StatefulSet of a failed pod once.
   * @throws ClusterError if the API server does not answer
   */
  async read({ owner, namespace, controller }: PodEvidence): Promise<void> {
    if (controller === undefined || !isOf(controller, 'StatefulSet') || this.#ordered.has(owner)) return;
    this.#ordered.set(owner, await this.#isOrdered(namespace, controller));
  }

  /** The lowest ordinal whose proof has not passed, except in warn mode; undefined if pods are not made in order. */
  lowest({ owner }: PodEvidence): number | undefined {
    if (this.#ordered.get(owner) !== true) return undefined;
    return getOrMake(this.#lowest, owner, () => {
      const pods = [...this.#evidence.ownedBy(owner)].filter(
        ({ verdict, warned }) => verdict !== 'passed' && !warned,
      );
      return pods.reduce((least, pod) => Math.min(least, ordinalOf(pod)), Number.POSITIVE_INFINITY);
    });
  }

  changed(owner: string): void {
    this.#lowest.delete(owner);
    if (this.#evidence.ownedBy(owner).next().done) this.#ordered.delete(owner);
  }

  /** A StatefulSet that is gone, was replaced, or may not be read counts as ordered. */
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
