import { Counter, Gauge, type Registry } from 'prom-client';
import type { LookupResult } from './namespaces/lookup.ts';
import type { Action, Reason } from './reflector/next-step.ts';

/** What is measured of the way to the cluster. Names follow https://prometheus.io/docs/practices/naming/. */
export class ClusterMetrics {
  readonly #ends: Counter<'resource' | 'reason'>;
  readonly #lists: Counter<'resource' | 'result'>;
  readonly #contact: Gauge<'resource'>;
  readonly #lookups: Counter<'result'>;
  readonly #sizes = new Map<string, () => number>();

  constructor(registry: Registry) {
    const registers = [registry];
    const sizes = this.#sizes;
    this.#ends = new Counter({
      name: 'cni_gate_cluster_watch_ends_total',
      help: 'Watches of the API server that came to an end, by why. All but reason "ended" are faults.',
      labelNames: ['resource', 'reason'],
      registers,
    });
    this.#lists = new Counter({
      name: 'cni_gate_cluster_lists_total',
      help: 'Lists of everything that the API server has of a resource: the first one, and after faults of watches.',
      labelNames: ['resource', 'result'],
      registers,
    });
    this.#contact = new Gauge({
      name: 'cni_gate_cluster_last_contact_timestamp_seconds',
      help: 'When the API server last said anything about a resource, in seconds since the epoch.',
      labelNames: ['resource'],
      registers,
    });
    new Gauge({
      name: 'cni_gate_cluster_objects',
      help: 'Objects of the cluster that are known here.',
      labelNames: ['resource'],
      registers,
      collect() {
        for (const [resource, size] of sizes) this.set({ resource }, size());
      },
    });
    this.#lookups = new Counter({
      name: 'cni_gate_cluster_namespace_lookups_total',
      help: 'Namespaces that the API server was asked for because a pod came before the watch told of them.',
      labelNames: ['result'],
      registers,
    });
  }

  /** @param size how many objects of the resource are known, asked when the metrics are */
  objects(resource: string, size: () => number): void {
    this.#sizes.set(resource, size);
  }

  contact(resource: string): void {
    this.#contact.set({ resource }, Date.now() / 1000);
  }

  ended(resource: string, during: Action, reason: Reason): void {
    if (during === 'watch') this.#ends.inc({ resource, reason });
    else this.#lists.inc({ resource, result: reason === 'listed' ? 'success' : 'failure' });
  }

  lookedUp(result: LookupResult): void {
    this.#lookups.inc({ result });
  }
}
