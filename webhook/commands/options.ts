import { styleText } from 'node:util';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../validator/shared/duration.ts';
import { CniGateError } from '../lib/errors.ts';
import type { TextOptions } from '../report/show/table.ts';

/** The forms of the output of `review`. */
export const reviewForms = ['text', 'json', 'yaml', 'junit', 'sarif', 'github', 'gitlab'] as const;

/** Flags that do not go together. */
export const usageError = (message: string): CniGateError => new CniGateError('CNI_GATE_USAGE', message);

/** Values of the flags that name a cluster. */
export interface ClusterFlags {
  kubeconfig?: string;
  context?: string;
}

/** Adds the flags that name a cluster. */
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

/** Adds the flags that name a cluster, and say where cni-gate is installed in it and how it is configured. */
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

/** A parser that refuses an empty text, which usually comes from an unset variable. */
const given =
  (what: string) =>
  (text: string): string => {
    if (text === '') throw new InvalidArgumentError(`expected ${what}.`);
    return text;
  };

/** Parses the name of a namespace. An empty one does not mean all. */
export const namespaceName = given('the name of a namespace');

/** A parser of whole numbers within bounds. */
const whole =
  (what: string, least: number, most: number) =>
  (text: string): number => {
    const value = Number(text);
    if (!/^\d{1,5}$/.test(text) || value < least || value > most)
      throw new InvalidArgumentError(`expected ${what}, ${least} to ${most}.`);
    return value;
  };

/** A port; 0 lets the system choose. */
export const port = whole('a port', 0, 65_535);

export const days = whole('days', 1, 9999);

/** Parses a duration such as 10s into milliseconds. */
export function milliseconds(text: string): number {
  const value = parseDuration(text);
  if (value === undefined) throw new InvalidArgumentError('expected a duration such as 500ms, 10s or 2m.');
  return value;
}

/**
 * How text is to look on standard output: as wide as COLUMNS or the terminal says, 100 columns in a file or a pipe, and in
 * colour where it has colours. `styleText` looks at the stream, NO_COLOR, NODE_DISABLE_COLORS and FORCE_COLOR.
 */
export function terminal(): Required<TextOptions> {
  const { stdout, env } = process;
  // some terminals do not tell how wide they are, and read as 0
  const width = Number(env.COLUMNS) || (stdout.isTTY && stdout.columns) || 100;
  return {
    // a narrower one breaks lines by itself
    width: Math.max(width, 60),
    paint: (style, text) => styleText(style, text, { stream: stdout }),
  };
}
