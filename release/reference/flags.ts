import type { Command, Option } from 'commander';
import { createProgram } from '../../webhook/commands/program.ts';
import { table } from './table.ts';

/** What docs/reference/command-line.md says once for all commands. */
const common = ['--kubeconfig', '--context'];

/** What it says once for several commands, which declare these together. */
const installation = ['--config', '--own-namespace'];
const inCluster = ['--namespace', '--tls-service'];
const shared: Record<string, readonly string[]> = {
  check: installation,
  status: installation,
  dashboard: installation,
  version: installation,
  'certs show': [...inCluster, '--tls-secret'],
  'certs rotate': [...inCluster, '--tls-secret'],
  'certs issue': inCluster,
};

/**
 * The flags of a command, as Markdown, without those that many commands have.
 *
 * @param path `serve`, or `certs show` for a command of a command
 */
export function flagsTable(path: string): string {
  const elsewhere = [...common, ...(shared[path] ?? [])];
  const own = commandOf(path).options.filter(({ long }) => !elsewhere.includes(long ?? ''));
  const rows = own.map((option) => {
    const { meaning, otherwise } = textsOf(option);
    const flags = option.flags.replace(', ', '`, `');
    return [`\`${flags}\``, otherwise, meaning];
  });
  return table(['flag', 'default', 'meaning'], rows);
}

function commandOf(path: string): Command {
  return path.split(' ').reduce((command, name) => {
    const found = command.commands.find((one) => one.name() === name);
    if (found === undefined) throw new Error(`cni-gate has no command ${path}`);
    return found;
  }, createProgram());
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
