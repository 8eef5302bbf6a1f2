import { type Metric, Registry } from 'prom-client';
import { certificateMetrics } from '../../certs/report.ts';
import type { ClusterView } from '../../webhook/admission/gate/cluster-view.ts';
import { EventMetrics } from '../../webhook/cluster/events/metrics.ts';
import { ClusterMetrics } from '../../webhook/cluster/metrics.ts';
import type { Policy } from '../../webhook/config/policy.ts';
import { RepairMetrics, SteerMetrics } from '../../webhook/leader/metrics.ts';
import { systemClock } from '../../webhook/lib/deps.ts';
import { measureEvidence, measureReadiness } from '../../webhook/server/cluster-metrics.ts';
import { Metrics } from '../../webhook/server/metrics.ts';
import { table } from './table.ts';

/* Metrics are registered and never collected, so nothing reads these. */
const policy = {} as Policy;
const view = {} as ClusterView;

function serverMetrics(): Registry {
  const metrics = new Metrics();
  metrics.measureBodies(() => 0);
  metrics.measureEventLoop();
  return metrics.registry;
}

function registryOf(...registrations: ((registry: Registry) => unknown)[]): Registry {
  const registry = new Registry();
  for (const register of registrations) register(registry);
  return registry;
}

const sections: Record<string, () => Registry> = {
  server: serverMetrics,
  readiness: () =>
    registryOf((registry) => measureReadiness({ registry, clock: systemClock }, () => policy, view)),
  proofs: () => registryOf((registry) => measureEvidence({ registry, clock: systemClock }, view)),
  certificates: () => registryOf((registry) => certificateMetrics(registry)),
  nominations: () =>
    registryOf(
      (registry) => new SteerMetrics(registry),
      (registry) => new EventMetrics(registry),
    ),
  recreations: () => registryOf((registry) => new RepairMetrics(registry)),
  cluster: () => registryOf((registry) => new ClusterMetrics(registry)),
};

/** The sections of docs/reference/metrics.md. */
export const metricSections = Object.keys(sections);

/**
 * The metrics of a section, as Markdown.
 *
 * @param section one of `metricSections`
 */
export function metricsTable(section: string): string {
  const metrics = sections[section]?.().getMetricsAsArray() ?? [];
  const rows = metrics
    // prom-client's types of this call lack the fields
    .map((metric) => metric as unknown as Metric & { name: string; help: string; labelNames: string[] })
    .filter(({ name }) => name.startsWith('cni_gate_'))
    .map(({ name, labelNames, help }) => [
      `\`${name}\``,
      labelNames.map((label) => `\`${label}\``).join(', '),
      help.replace(/\.$/, ''),
    ]);
  return table(['metric', 'labels', 'meaning'], rows);
}
