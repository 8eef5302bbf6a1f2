import type { Command, Option } from 'commander';
import { type Metric, Registry } from 'prom-client';
import { certificateMetrics } from '../../certs/report.ts';
import { eventMetrics } from '../../webhook/cluster/events/recorder.ts';
import { clusterMetrics } from '../../webhook/cluster/metrics.ts';
import { createProgram } from '../../webhook/commands/program.ts';
import type { ClusterView } from '../../webhook/core/cluster-view.ts';
import type { Policy } from '../../webhook/core/profiles/policy.ts';
import { repairMetrics, steerMetrics } from '../../webhook/leader/metrics.ts';
import { systemClock } from '../../webhook/lib/deps.ts';
import { documentedLimits } from '../../webhook/lib/limit.ts';
import '../../webhook/lib/limits.ts';
import { measureCluster } from '../../webhook/server/cluster-metrics.ts';
import { Metrics } from '../../webhook/server/metrics.ts';

/** What docs/reference/command-line.md says once for several commands, which declare these together. */
const common = ['--kubeconfig', '--context'];
const installation = ['--config', '--own-namespace'];
const shared: Record<string, readonly string[]> = {
  check: installation,
  status: installation,
  dashboard: installation,
};

/**
 * The flags of a command, as Markdown, without those that many commands have.
 */
export function flagsTable(name: string): string {
  const elsewhere = [...common, ...(shared[name] ?? [])];
  const own = commandOf(name).options.filter(({ long }) => !elsewhere.includes(long ?? ''));
  const rows = own.map((option) => {
    const { meaning, otherwise } = textsOf(option);
    return [`\`${option.flags.replace(', ', '`, `')}\``, otherwise, meaning];
  });
  return table(['flag', 'default', 'meaning'], rows);
}

function commandOf(name: string): Command {
  const command = createProgram().commands.find((known) => known.name() === name);
  if (command === undefined) throw new Error(`cni-gate has no command ${name}`);
  return command;
}

/** A description, and the default: that of the option, or the one that the description has in brackets at its end. */
function textsOf(option: Option): { meaning: string; otherwise: string } {
  const [, description = '', named = ''] = /^(.*?)(?: \(default: (.*)\))?$/s.exec(option.description) ?? [];
  const choices = option.argChoices?.map((choice) => `\`${choice}\``).join(', ');
  const { defaultValue } = option;
  const value = option.defaultValueDescription ?? (typeof defaultValue === 'boolean' ? '' : defaultValue);
  const defaults = [option.envVar && `\`$${option.envVar}\``, named, value];
  return {
    meaning: choices === undefined ? description : `${description}: ${choices}`,
    otherwise: defaults.filter((one) => one !== undefined && one !== '').join(', '),
  };
}

/* Metrics are registered and never collected, so nothing reads these. */
const policy = {} as Policy;
const view = {} as ClusterView;

/** What registers the metrics of each section of docs/reference/metrics.md, in a registry or in its own. */
const sections: Record<string, (registry: Registry) => unknown> = {
  server: () => {
    const metrics = new Metrics();
    metrics.measureBodies(() => 0);
    metrics.measureEventLoop();
    return metrics.registry;
  },
  nodes: (registry) => measureCluster({ registry, clock: systemClock }, () => policy, view),
  certificates: certificateMetrics,
  nominations: (registry) => [steerMetrics(registry), eventMetrics(registry)],
  recreations: (registry) => repairMetrics(registry),
  cluster: (registry) => clusterMetrics(registry),
};

/** The sections of docs/reference/metrics.md. */
export const metricSections = Object.keys(sections);

/**
 * The metrics of a section, as Markdown.
 *
 * @param section one of `metricSections`
 */
export function metricsTable(section: string): string {
  const given = new Registry();
  const made = sections[section]?.(given);
  const metrics = (made instanceof Registry ? made : given).getMetricsAsArray();
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

/**
 * The limits of a section of docs/reference/limits.md, as Markdown.
 *
 * @throws Error if there is no such section
 */
export function limitsTable(section: string): string {
  const limits = documentedLimits.get(section);
  if (limits === undefined) throw new Error(`webhook/lib/limits.ts has no section ${section}`);
  const hasBeyond = limits.some(({ beyond }) => beyond !== '');
  const rows = limits.map(({ text, shown, beyond }) => [text, shown, ...(hasBeyond ? [beyond] : [])]);
  return table(['limit', 'value', ...(hasBeyond ? ['beyond'] : [])], rows);
}

/** A Markdown table. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(headings), line(headings.map(() => '---')), ...rows.map(line)].join('\n');
}
