import { styleText } from 'node:util';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../validator/shared/duration.ts';
import { CniGateError } from '../lib/errors.ts';
import type { Paint } from '../report/show/table.ts';

/** The output formats of `review`. */
export const reviewForms = ['text', 'json', 'yaml', 'junit', 'sarif', 'github', 'gitlab'] as const;

export const usageError = (message: string): CniGateError => new CniGateError('CNI_GATE_USAGE', message);

/** The flags that name a cluster. */
export interface ClusterFlags {
  kubeconfig?: string;
  context?: string;
}

export const addClusterOptions = (command: Command): Command =>
  command
    .option(
      '--kubeconfig <file>',
      'how to reach the cluster (default: the service account of the pod, $KUBECONFIG, ~/.kube/config)',
    )
    .option(
      '--context <name>',
      'context of the kubeconfig file (default: its current one)',
      given('the name of a context'),
    );

export function addInstallationOptions(command: Command): Command {
  return addClusterOptions(command)
    .option(
      '--config <file>',
      'configuration (default: that of the ConfigMap cni-gate, or built-in profiles)',
    )
    .addOption(
      new Option('--own-namespace <name>', 'namespace of cni-gate')
        .env('POD_NAMESPACE')
        .argParser(namespaceName)
        .default('cni-gate'),
    );
}

/** A parser that rejects an empty argument, which usually comes from an unset variable. */
const given =
  (what: string) =>
  (text: string): string => {
    if (text === '') throw new InvalidArgumentError(`expected ${what}.`);
    return text;
  };

/** Parses the name of a namespace. An empty argument is an error, instead of meaning all namespaces. */
export const namespaceName = given('the name of a namespace');

export const imageName = given('an image');

/** Parses a port number. 0 lets the system choose a port. */
export function port(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  throw new InvalidArgumentError('expected a port, 0 to 65535.');
}

/** Parses a duration such as 10s into milliseconds. */
export function milliseconds(text: string): number {
  const value = parseDuration(text);
  if (value === undefined) throw new InvalidArgumentError('expected a duration such as 500ms, 10s or 2m.');
  return value;
}

/** Colours text if standard output, NO_COLOR and FORCE_COLOR allow it: `styleText` decides. */
export const paint: Paint = (style, text) => styleText(style, text, { stream: process.stdout });
