import { readFileSync } from 'node:fs';
import type { GateServer } from '../harness/server.ts';

/** Where a server has its metrics. */
type OpsAddress = Pick<GateServer, 'host' | 'opsPort'>;

/** The server's own metrics, as text. */
export async function metricsOf({ host, opsPort }: OpsAddress): Promise<string> {
  return (await fetch(`http://${host}:${opsPort}/metrics`)).text();
}

/** How much memory it has, and had at most: VmRSS and VmHWM of its process, in MiB. */
export function memoryOf({ pid }: GateServer): { now: number; peak: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const line = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1024;
  return { now: line('VmRSS'), peak: line('VmHWM') };
}

/** Of how many nodes the metrics tell, whatever state they are in. */
export const nodesKnown = (metrics: string): number =>
  [...metrics.matchAll(/^cni_gate_nodes\{.*\} (\d+)$/gm)].reduce((sum, [, count]) => sum + Number(count), 0);

/** How often it has listed everything of a resource. */
export const listsOf = (metrics: string, resource: string): number =>
  Number(
    new RegExp(
      `^cni_gate_cluster_lists_total\\{resource="${resource}",result="success"\\} (\\d+)$`,
      'm',
    ).exec(metrics)?.[1] ?? 0,
  );

/** How long decisions of the gate took, as its histogram has it. */
export class Durations {
  /** Upper bounds in seconds, and how many decisions took no longer. */
  readonly #counts: [number, number][];

  constructor(counts: [number, number][]) {
    this.#counts = counts;
  }

  /** Those that came after some others. */
  since(before: Durations): Durations {
    return new Durations(
      this.#counts.map(([bound, count], index) => [bound, count - (before.#counts[index]?.[1] ?? 0)]),
    );
  }

  /** How long a share of them took at most, in seconds: evenly spread within its bucket, as Prometheus has it. */
  at(share: number): number {
    const wanted = share * (this.#counts.at(-1)?.[1] ?? 0);
    let [low, fewer] = [0, 0];
    for (const [bound, count] of this.#counts) {
      if (count >= wanted) return low + ((bound - low) * (wanted - fewer)) / (count - fewer);
      [low, fewer] = [bound, count];
    }
    return Number.NaN;
  }
}

/** Of all decisions of the gate since the server's start. */
export async function durationsOf(server: OpsAddress): Promise<Durations> {
  const buckets = (await metricsOf(server)).matchAll(
    /^cni_gate_admission_duration_seconds_bucket\{le="(.+)",webhook="gate"\} (\d+)$/gm,
  );
  return new Durations(
    [...buckets].map(([, bound, count]) => [
      bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound),
      Number(count),
    ]),
  );
}
