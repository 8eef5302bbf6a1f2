import { type Metric, Registry } from 'prom-client';
import { certificateMetrics } from '../../certs/report.ts';
import { eventMetrics } from '../../webhook/cluster/events/recorder.ts';
import { clusterMetrics } from '../../webhook/cluster/metrics.ts';
import { createProgram } from '../../webhook/commands/program.ts';
import type { ClusterView } from '../../webhook/core/cluster-view.ts';
import type { Policy } from '../../webhook/core/profiles/policy.ts';
import { repairMetrics, steerMetrics } from '../../webhook/leader/metrics.ts';
import { measureCluster } from '../../webhook/server/cluster-metrics.ts';
import { Metrics } from '../../webhook/server/metrics.ts';

/** What `cni-gate COMMAND --help` prints before the examples, as Markdown. */
export function commandHelp(name: string): string {
  const command = createProgram().commands.find((known) => known.name() === name);
  if (command === undefined) throw new Error(`cni-gate has no command ${name}`);
  command.configureHelp({ helpWidth: 110 });
  return `\`\`\`text\n${command.helpInformation().trim()}\n\`\`\``;
}

/* Metrics are only registered here, and never collected, so these empty objects are not read. */
const policy = {} as Policy;
const view = {} as ClusterView;

/**
 * For each section of docs/reference/metrics.md, a function that registers the metrics in the given registry, or
 * returns another registry with them.
 */
const sections: Record<string, (registry: Registry) => unknown> = {
  server: () => {
    const metrics = new Metrics();
    metrics.measureEventLoop();
    return metrics.registry;
  },
  nodes: (registry) => measureCluster(registry, () => policy, view),
  certificates: certificateMetrics,
  nominations: (registry) => [steerMetrics(registry), eventMetrics(registry)],
  recreations: (registry) => repairMetrics(registry),
  cluster: (registry) => clusterMetrics(registry),
};

/** The sections of docs/reference/metrics.md. */
export const metricSections = Object.keys(sections);

/** The metrics of one of `metricSections`, as Markdown. */
export function metricList(section: string): string {
  const given = new Registry();
  const made = sections[section]?.(given);
  const metrics = (made instanceof Registry ? made : given).getMetricsAsArray();
  return (
    metrics
      // prom-client's type of the result lacks these fields
      .map((metric) => metric as unknown as Metric & { name: string; help: string; labelNames: string[] })
      .filter(({ name }) => name.startsWith('cni_gate_'))
      .map(({ name, labelNames, help }) => {
        const labels = labelNames.length > 0 ? `{${labelNames}}` : '';
        return `- \`${name}${labels}\`: ${help.replace(/\.$/, '')}`;
      })
      .join('\n')
  );
}
