import { Counter, Gauge, type Registry } from 'prom-client';

// metric names follow https://prometheus.io/docs/practices/naming/, and docs/reference/metrics.md lists them

/** Registers a counter with the given labels. */
export const counter = <L extends string>(
  registry: Registry,
  name: string,
  help: string,
  ...labelNames: L[]
): Counter<L> => new Counter({ name, help, labelNames, registers: [registry] });

/** Registers a gauge with the given labels. The caller sets the gauge's value. */
export const gauge = <L extends string>(
  registry: Registry,
  name: string,
  help: string,
  ...labelNames: L[]
): Gauge<L> => new Gauge({ name, help, labelNames, registers: [registry] });

/** One value of a gauge, with the labels that identify it. */
export type Sample = [labels: Record<string, string>, value: number];

/** Registers a gauge that each scrape computes. @param samples returns undefined while there is no value */
export function measuredGauge(
  registry: Registry,
  name: string,
  help: string,
  labelNames: string[],
  samples: () => Iterable<Sample> | undefined,
): void {
  new Gauge({
    name,
    help,
    labelNames,
    registers: [registry],
    collect() {
      // `reset` would make a gauge without labels report 0; `remove` makes it report nothing
      if (labelNames.length > 0) this.reset();
      else this.remove();
      for (const [labels, value] of samples() ?? []) this.set(labels, value);
    },
  });
}
