import { setTimeout as sleep } from 'node:timers/promises';
import { Command, Option } from 'commander';
import { CniGateError } from '../lib/errors.ts';
import type { CheckReport, CheckVerdict } from '../report/show/check.ts';
import { addInstallationOptions, type ClusterFlags, milliseconds, terminal } from './options.ts';

interface Flags extends ClusterFlags {
  pre?: true;
  probe: boolean;
  wait?: number;
  config?: string;
  ownNamespace: string;
  output: 'text' | 'json';
}

const more = `
Exit code: 0 no check failed; 1 a check failed; 2 wrong usage, no answer from
the cluster, or a missing right without which there is no result; 3 cni-gate is
not installed.`;

const exitCodes: Record<CheckVerdict, number> = { passed: 0, failed: 1, 'not-known': 2, 'not-installed': 3 };

/** Milliseconds between two attempts with `--wait`. */
const interval = 2000;

/** `cni-gate check` judges an installation; with `--pre`, the cluster before it. Sets `process.exitCode`. */
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
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  const { config, ownNamespace, probe, pre, output } = flags;
  // loaded here, because the other commands do not need these modules
  const [
    { openCluster },
    { givenPolicy },
    { observeBefore, observeInstallation },
    { checkReport, checkText },
  ] = await Promise.all([
    import('../cluster/open.ts'),
    import('../report/observe/configuration.ts'),
    import('../report/observe/observe.ts'),
    import('../report/show/check.ts'),
  ]);
  const options = { ownNamespace, given: givenPolicy(config), probe };
  const client = await openCluster(flags.kubeconfig, flags.context);
  const make = async (): Promise<CheckReport> =>
    checkReport(await (pre ? observeBefore : observeInstallation)(client, options), Date.now());
  try {
    const report = await waitFor(make, flags.wait ?? 0);
    const text = output === 'json' ? `${JSON.stringify(report, null, 2)}\n` : checkText(report, terminal());
    process.stdout.write(text);
    process.exitCode = exitCodes[report.result];
  } finally {
    client.close();
  }
}

/**
 * Makes reports until no check fails or the time is over, and returns the last report. Progress goes to standard error.
 *
 * @param wait how long to repeat, in milliseconds
 */
async function waitFor(make: () => Promise<CheckReport>, wait: number): Promise<CheckReport> {
  const end = performance.now() + wait;
  let last = '';
  for (;;) {
    const isLast = performance.now() >= end;
    const result = await make().catch((error: unknown) => {
      if (isLast || !(error instanceof CniGateError)) throw error;
      return error;
    });
    const isError = result instanceof CniGateError;
    if (!isError && (isLast || result.counts.failed === 0)) return result;
    const what = isError ? `${result.message} (${result.code})` : result.headline;
    if (what !== last) process.stderr.write(`cni-gate: waiting: ${what}\n`);
    last = what;
    await sleep(Math.max(0, Math.min(interval, end - performance.now())));
  }
}
