import { Command, Option } from 'commander';
import type { StatusFlags } from '../report/observe/follow.ts';
import type { StatusFacts } from '../report/observe/observe.ts';
import type { Status, StatusVerdict } from '../report/show/status.ts';
import { addInstallationOptions, namespaceName, terminal, usageError } from './options.ts';

interface Flags extends StatusFlags {
  output: 'text' | 'wide' | 'json';
  all?: true;
  watch?: true;
}

const more = `
Exit code: 0 all is well; 1 something is wrong, which the first line names; 2
wrong usage, no answer from the cluster, no such namespace, or a missing right
or probe without which there is no result; 3 cni-gate is not installed. With
--watch, it is that of the last status.`;

const exitCodes: Record<StatusVerdict, number> = {
  well: 0,
  'not-well': 1,
  'not-known': 2,
  'not-installed': 3,
};

/** `cni-gate status` shows where networks are ready, and which pods wait or lack a proof. Sets `process.exitCode`. */
export function statusCommand(): Command {
  const command = new Command('status').description(
    'show what is in force, where networks are ready, which pods are held, and which run without a proof',
  );
  command.addHelpText('after', more);
  return addInstallationOptions(command)
    .option('-n, --namespace <name>', 'only this opted-in namespace', namespaceName)
    .addOption(
      new Option('-o, --output <form>', 'what to print').choices(['text', 'wide', 'json']).default('text'),
    )
    .option('--all', 'show all rows, including ready and exempt nodes')
    .option('-w, --watch', 'print the status again on each change')
    .option('--probe', 'create a pod as a dry run; not with --watch')
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  const { probe, watch, output, all = false } = flags;
  if (probe && watch) throw usageError('--probe asks once, but --watch repeats: use only one of the two');
  // loaded here, because the other commands do not need these modules
  const [{ readings }, { statusOf }, { statusText }] = await Promise.all([
    import('../report/observe/follow.ts'),
    import('../report/show/status.ts'),
    import('../report/show/status-text.ts'),
  ]);
  const { isTTY } = process.stdout;
  const form = (status: Status): string => {
    if (output === 'json') return `${JSON.stringify(status, null, watch ? undefined : 2)}\n`;
    const { width, ...look } = terminal();
    const text = statusText(status, all, { ...look, ...(output !== 'wide' && { width }) });
    // in a file, an empty line separates a status from the next one
    return watch && !isTTY ? `${text}\n` : text;
  };
  let shown = '';
  /** Prints a status, unless it equals the one printed before, and sets the exit code. */
  const show = (facts: StatusFacts): void => {
    const status = statusOf(facts, Date.now(), all);
    const text = form(status);
    // only a terminal shows ages that keep changing; elsewhere, a new time alone is no reason to print again
    const content = isTTY && output !== 'json' ? text : JSON.stringify({ ...status, time: '' });
    if (content === shown) return;
    shown = content;
    process.stdout.write(watch && isTTY ? redraw + text : text);
    process.exitCode = exitCodes[status.result];
  };
  const stop = new AbortController();
  if (watch) process.stdout.once('error', () => stop.abort());
  const onTrouble = (message: string): void =>
    void process.stderr.write(`cni-gate: ${message}; it is tried again\n`);
  for await (const facts of readings(flags, watch && onTrouble, stop)) show(facts);
}

/** Moves the cursor to the top left, and clears the screen below it. */
const redraw = '\u001b[H\u001b[J';
