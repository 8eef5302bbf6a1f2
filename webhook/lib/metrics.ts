import { Counter, Gauge, type Registry } from 'prom-client';

// names follow https://prometheus.io/docs/practices/naming/, and docs/reference/metrics.md lists them

/** A counter with these labels. */
export const counter = <L extends string>(
  registry: Registry,
  name: string,
  help: string,
  ...labelNames: L[]
): Counter<L> => new Counter({ name, help, labelNames, registers: [registry] });

/** A gauge with these labels, which is set when the value changes. */
export const gauge = <L extends string>(
  registry: Registry,
  name: string,
  help: string,
  ...labelNames: L[]
): Gauge<L> => new Gauge({ name, help, labelNames, registers: [registry] });

/** A value of a gauge, by its labels. */
export type Sample = [labels: Record<string, string>, value: number];

/** Registers a gauge that is computed for each scrape. @param samples undefined where there is no value yet */
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
      // without labels, a reset would report 0
      if (labelNames.length > 0) this.reset();
      else this.remove();
      for (const [labels, value] of samples() ?? []) this.set(labels, value);
    },
  });
}
