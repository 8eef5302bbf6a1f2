import type { PendingPod } from '../../core/facts/pending-pod.ts';

/** The pods that wait, by key and by the node that is nominated for them. */
export class PendingIndex {
  readonly #pending: () => Iterable<PendingPod>;
  #byKey: Map<string, PendingPod[]> | undefined;
  #byNode = new Map<string, PendingPod[]>();

  constructor(pending: () => Iterable<PendingPod>) {
    this.#pending = pending;
  }

  /** Call it when pods have changed, so that the next read builds the index again. */
  changed(): void {
    this.#byKey = undefined;
  }

  *refused(): Generator<string> {
    for (const [key, pods] of this.#read()) if (pods.some(({ refused }) => refused !== undefined)) yield key;
  }

  of(key: string): readonly PendingPod[] {
    return this.#read().get(key) ?? [];
  }

  nominatedFor(node: string): readonly PendingPod[] {
    this.#read();
    return this.#byNode.get(node) ?? [];
  }

  #read(): Map<string, PendingPod[]> {
    if (this.#byKey !== undefined) return this.#byKey;
    const pods = [...this.#pending()];
    this.#byKey = Map.groupBy(pods, ({ key }) => key);
    const nominated = pods.filter((pod) => pod.nominated !== '');
    this.#byNode = Map.groupBy(nominated, (pod) => pod.nominated);
    return this.#byKey;
  }
}
