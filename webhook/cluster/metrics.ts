import type { Registry } from 'prom-client';
import { counter, gauge } from '../lib/metrics.ts';

/** A list or watch that ended. The next begins after `wait` milliseconds. */
export interface Ended {
  during: 'list' | 'watch';
  /** The metric's label `reason`. `silent`: the connection is dead; `expired`: the watched version is too old. */
  reason: 'ended' | 'silent' | 'expired' | 'failed';
  wait: number;
  error?: unknown;
}

export type ClusterMetrics = ReturnType<typeof clusterMetrics>;

/** The metrics of informers and lookups: docs/reference/metrics.md. */
export function clusterMetrics(registry: Registry) {
  const counterOf = <L extends 'reason' | 'result'>(name: string, help: string, label: L) =>
    counter<'resource' | L>(registry, `cni_gate_cluster_${name}`, help, 'resource', label);
  const leftOut = counterOf('objects_left_out_total', 'Objects that are not kept.', 'reason');
  const endsHelp = 'Watches that ended. All reasons but "ended" are faults.';
  const ends = counterOf('watch_ends_total', endsHelp, 'reason');
  const lists = counterOf('lists_total', 'Complete lists: the first, and after faults of watches.', 'result');
  const lookupsHelp = 'Requests for objects that no watch had reported; "limited": not sent.';
  const lookups = counterOf('lookups_total', lookupsHelp, 'result');
  const contactHelp = 'When the API server last sent data, as Unix time; normally at most 20 s ago.';
  const contact = gauge(registry, 'cni_gate_cluster_last_contact_timestamp_seconds', contactHelp, 'resource');
  return {
    leftOut,
    lookups,
    forget(resource: string): void {
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
