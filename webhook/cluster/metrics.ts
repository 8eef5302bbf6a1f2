import { Counter, Gauge, type Registry } from 'prom-client';
import type { Action, Reason } from './informer/informer.ts';
import type { LeftOut } from './informer/object.ts';
import type { LookupResult } from './lookup.ts';

/** How many objects there are, and how much memory they take where that is limited. */
interface Size {
  count: () => number;
  bytes?: () => number;
}

/** What is measured of the way to the cluster. Names follow https://prometheus.io/docs/practices/naming/. */
export class ClusterMetrics {
  readonly #ends: Counter<'resource' | 'reason'>;
  readonly #lists: Counter<'resource' | 'result'>;
  readonly #contact: Gauge<'resource'>;
  readonly #lookups: Counter<'resource' | 'result'>;
  readonly #leftOut: Counter<'resource' | 'reason'>;
  readonly #sizes = new Map<string, Size>();

  constructor(registry: Registry) {
    const registers = [registry];
    const sizes = this.#sizes;
    this.#leftOut = new Counter({
      name: 'cni_gate_cluster_objects_left_out_total',
      help: 'Objects that are not kept.',
      labelNames: ['resource', 'reason'],
      registers,
    });
    new Gauge({
      name: 'cni_gate_cluster_kept_bytes',
      help: 'Estimated memory of the known objects, if limited.',
      labelNames: ['resource'],
      registers,
      collect() {
        this.reset();
        for (const [resource, { bytes }] of sizes) if (bytes !== undefined) this.set({ resource }, bytes());
      },
    });
    this.#ends = new Counter({
      name: 'cni_gate_cluster_watch_ends_total',
      help: 'Watches that ended. All reasons but "ended" are faults.',
      labelNames: ['resource', 'reason'],
      registers,
    });
    this.#lists = new Counter({
      name: 'cni_gate_cluster_lists_total',
      help: 'Complete lists: the first, and after faults of watches.',
      labelNames: ['resource', 'result'],
      registers,
    });
    this.#contact = new Gauge({
      name: 'cni_gate_cluster_last_contact_timestamp_seconds',
      help: 'When the API server last sent data, as Unix time; normally at most 20 s ago.',
      labelNames: ['resource'],
      registers,
    });
    new Gauge({
      name: 'cni_gate_cluster_objects',
      help: 'Known objects.',
      labelNames: ['resource'],
      registers,
      collect() {
        this.reset();
        for (const [resource, { count }] of sizes) this.set({ resource }, count());
      },
    });
    this.#lookups = new Counter({
      name: 'cni_gate_cluster_lookups_total',
      help: 'Requests for objects that no watch had reported; "limited": not sent.',
      labelNames: ['resource', 'result'],
      registers,
    });
  }

  /** @param size of the objects of the resource that are known, asked for when the metrics are */
  objects(resource: string, size: Size): void {
    this.#sizes.set(resource, size);
  }

  /** The resource is no longer watched. */
  forget(resource: string): void {
    this.#sizes.delete(resource);
    this.#contact.remove({ resource });
  }

  contact(resource: string): void {
    this.#contact.set({ resource }, Date.now() / 1000);
  }

  ended(resource: string, during: Action, reason: Reason): void {
    if (during === 'watch') this.#ends.inc({ resource, reason });
    else this.#lists.inc({ resource, result: reason === 'ended' ? 'success' : 'failure' });
  }

  leftOut(resource: string, reason: LeftOut): void {
    this.#leftOut.inc({ resource, reason });
  }

  lookedUp(resource: string, result: LookupResult): void {
    this.#lookups.inc({ resource, result });
  }
}
