import { Counter, Gauge, type Registry } from 'prom-client';
import type { Ended } from './informer/report.ts';

/** What is measured of the way to the cluster. */
export type ClusterMetrics = ReturnType<typeof clusterMetrics>;

/** Registers the metrics of a cluster. Names follow https://prometheus.io/docs/practices/naming/. */
export function clusterMetrics(registry: Registry) {
  const registers = [registry];
  const counts = new Map<string, () => number>();
  const leftOut = new Counter({
    name: 'cni_gate_cluster_objects_left_out_total',
    help: 'Objects that are not kept.',
    labelNames: ['resource', 'reason'],
    registers,
  });
  const ends = new Counter({
    name: 'cni_gate_cluster_watch_ends_total',
    help: 'Watches that ended. All reasons but "ended" are faults.',
    labelNames: ['resource', 'reason'],
    registers,
  });
  const lists = new Counter({
    name: 'cni_gate_cluster_lists_total',
    help: 'Complete lists: the first, and after faults of watches.',
    labelNames: ['resource', 'result'],
    registers,
  });
  const contact = new Gauge({
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
      for (const [resource, count] of counts) this.set({ resource }, count());
    },
  });
  const lookups = new Counter({
    name: 'cni_gate_cluster_lookups_total',
    help: 'Requests for objects that no watch had reported; "limited": not sent.',
    labelNames: ['resource', 'result'],
    registers,
  });
  return {
    leftOut,
    lookups,
    /** @param count how many objects of the resource are known, asked for when the metrics are */
    objects(resource: string, count: () => number): void {
      counts.set(resource, count);
    },
    /** The resource is no longer watched. */
    forget(resource: string): void {
      counts.delete(resource);
      contact.remove({ resource });
    },
    contact(resource: string): void {
      contact.set({ resource }, Date.now() / 1000);
    },
    ended(resource: string, { during, reason }: Ended): void {
      if (during === 'watch') ends.inc({ resource, reason });
      else lists.inc({ resource, result: reason === 'ended' ? 'success' : 'failure' });
    },
  };
}
