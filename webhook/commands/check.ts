import { Command, Option } from 'commander';
import { addInstallationOptions, milliseconds } from './options.ts';
import { printReport, type ReportFlags } from './report.ts';

interface Flags extends ReportFlags {
  pre?: true;
  wait?: number;
}

const more = `
Exit code: 0 no check failed; 1 a check failed; 2 wrong usage, no answer from
the cluster, or a missing right without which there is no result; 3 cni-gate is
not installed.`;

/** `cni-gate check` checks the installation, or the cluster before it (`--pre`). Sets `process.exitCode`. */
export function checkCommand(): Command {
  const command = new Command('check').description(
    'check the installation, or with --pre the cluster before installing',
  );
  command.addHelpText('after', more);
  return addInstallationOptions(command)
    .option('--pre', 'before installing: check the cluster, and propose profiles')
    .option('--no-probe', 'create no pod as a dry run')
    .option('--wait <duration>', 'repeat the checks until none fails, for at most this time', milliseconds)
    .addOption(new Option('-o, --output <form>', 'what to print').choices(['text', 'json']).default('text'))
    .action(({ pre, wait, ...flags }: Flags) =>
      pre
        ? printReport({ ...flags, probe: false }, 'pre', false, wait)
        : printReport(flags, 'check', false, wait),
    );
}
