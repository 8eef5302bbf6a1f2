import { Command, Option } from 'commander';
import { addInstallationOptions, namespaceName } from './options.ts';
import { printReport, type ReportFlags } from './report.ts';

interface Flags extends ReportFlags {
  all?: boolean;
}

const more = `
Exit code: 0 nothing failed; 1 something failed, which the first line names; 2
wrong usage, no answer from the cluster, no such namespace, or a missing right
without which there is no result; 3 cni-gate is not installed.`;

/** `cni-gate status` shows where networks are ready, and which pods wait or lack a proof. Sets `process.exitCode`. */
export function statusCommand(): Command {
  const command = new Command('status').description(
    'show what is in force, where networks are ready, which pods are held, and which run without a proof',
  );
  command.addHelpText('after', more);
  return addInstallationOptions(command)
    .option('-n, --namespace <name>', 'only this opted-in namespace', namespaceName)
    .addOption(new Option('-o, --output <form>', 'what to print').choices(['text', 'json']).default('text'))
    .option('--all', 'show all rows, including ready and exempt nodes')
    .option('--probe', 'create pods as a dry run')
    .action(({ all = false, ...flags }: Flags) => printReport(flags, 'status', all));
}
