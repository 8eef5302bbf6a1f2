import { type Command, InvalidArgumentError } from 'commander';
import { parseDuration } from '../../validator/shared/duration.ts';

/** What the flags that name a cluster say. */
export interface ClusterFlags {
  kubeconfig?: string;
  context?: string;
}

/**
 * Adds the flags that name a cluster.
 *
 * @param otherwise where the cluster is taken from without them, for the help
 */
export function addClusterOptions(command: Command, otherwise: string): Command {
  return command
    .option('--kubeconfig <file>', `how to reach the cluster (default: ${otherwise})`)
    .option('--context <name>', 'context of the kubeconfig file (default: its current one)', contextName);
}

/** The name of a context for commander. An empty one is mostly a variable that is not set. */
function contextName(text: string): string {
  if (text === '') throw new InvalidArgumentError('expected the name of a context.');
  return text;
}

/** The name of a namespace for commander. An empty one is mostly a variable that is not set, and does not mean all. */
export function namespaceName(text: string): string {
  if (text === '') throw new InvalidArgumentError('expected the name of a namespace.');
  return text;
}

/** A port for commander; 0 lets the system choose. */
export function port(text: string): number {
  const value = Number(text);
  if (!/^\d{1,5}$/.test(text) || value > 65_535)
    throw new InvalidArgumentError('expected a port, 0 to 65535.');
  return value;
}

/** Milliseconds of a duration such as 10s for commander. */
export function milliseconds(text: string): number {
  const value = parseDuration(text);
  if (value === undefined) throw new InvalidArgumentError('expected a duration such as 500ms, 10s or 2m.');
  return value;
}

/** A number of days for commander. */
export function days(text: string): number {
  const value = Number(text);
  if (!/^\d{1,4}$/.test(text) || value < 1) throw new InvalidArgumentError('expected days, 1 to 9999.');
  return value;
}
