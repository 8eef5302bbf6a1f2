import { Command, Option } from 'commander';
import { clean } from '../clean.ts';
import { readPolicy } from '../config/file.ts';
import { CniGateError } from '../errors.ts';
import { remote } from '../review/ask/remote.ts';
import { placeOf, type Report } from '../review/model.ts';
import { answersOutput, jsonOutput } from '../review/output/json.ts';
import { junitOutput } from '../review/output/junit.ts';
import { painter, textOutput } from '../review/output/text.ts';
import { yamlOutput } from '../review/output/yaml.ts';
import { Progress } from '../review/progress.ts';
import { type ReviewOptions, review } from '../review/run.ts';
import { exitCodeOf, type Summary, summarize } from '../review/summary.ts';
import { milliseconds } from './options.ts';

interface Flags {
  filename: string[];
  profile?: string;
  namespace: string;
  config?: string;
  server?: string;
  ca?: string;
  timeout: number;
  output: 'text' | 'json' | 'yaml' | 'junit';
  strict?: true;
  color?: boolean;
}

const more = `
What is reviewed: Pod, Deployment, StatefulSet, DaemonSet, ReplicaSet, ReplicationController, Job, CronJob,
PodTemplate, Lists of them, and AdmissionReviews about pods. Everything else is passed by and counted.
A namespace opts in by the label cni-gate.io/profile on its Namespace, anywhere in the input, or by --profile.

Output:
  text   a unified diff for each workload, then counts
  json   a report; where the input is AdmissionReviews only, the AdmissionReviews with their responses instead,
         one a line, or a list in one line where the input is a list
  yaml   the input with the patches in it, comments and order kept; messages go to standard error
  junit  a test suite for each file, a test case for each workload

Exit code: 0 nothing wrong; 1 a refusal, or with --strict a warning or a namespace that is not in the input;
2 wrong usage or input that cannot be read.`;

/** `cni-gate review`: what admission would do to manifests, without a cluster. Sets `process.exitCode`. */
export function reviewCommand(): Command {
  return new Command('review')
    .description('tell what admission would do to manifests; no cluster needed')
    .requiredOption(
      '-f, --filename <path...>',
      'files, folders (.yaml .yml .json), globs, or - for standard input',
    )
    .option('-n, --namespace <namespace>', 'namespace of objects that name none', 'default')
    .option('--config <file>', 'configuration (default: built-in profiles)')
    .option('--profile <profile>', 'profile of every namespace, in place of its label')
    .addOption(
      new Option(
        '--server <url>',
        'ask a running server, which knows its configuration and namespaces',
      ).conflicts(['profile', 'config']),
    )
    .option('--ca <file>', 'certificate of the authority that the server is trusted by; with --server')
    .addOption(
      new Option('--timeout <duration>', 'how long to wait for each answer of the server')
        .argParser(milliseconds)
        .default(10_000, '10s'),
    )
    .addOption(
      new Option('-o, --output <form>', 'what to print')
        .choices(['text', 'json', 'yaml', 'junit'])
        .default('text'),
    )
    .option('--strict', 'exit with 1 for warnings, and for namespaces that are not in the input')
    .option('--color', 'colours even where the output is no terminal')
    .option('--no-color', 'no colours (also: NO_COLOR in the environment)')
    .addHelpText('after', more)
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  const progress = new Progress(process.stderr);
  const { filename: names, namespace } = flags;
  const report = await review({ names, namespace, admission: admissionOf(flags), progress });
  const summary = summarize(report);
  const output = outputOf(report, summary, flags, progress);
  progress.clear();
  process.exitCode = exitCodeOf(summary, flags.strict === true);
  // messages first: whoever reads the output may stop in the middle of it
  process.stderr.write(messagesFor(report, summary, flags));
  process.stdout.write(output);
}

function admissionOf(flags: Flags): ReviewOptions['admission'] {
  const { server, ca, timeout, profile } = flags;
  if (server !== undefined) return remote({ url: server, ca, timeout });
  if (ca !== undefined) throw new CniGateError('CNI_GATE_USAGE', '--ca goes with --server');
  const policy = readPolicy(flags.config);
  // one that does not exist is told once, not by refusing every pod
  if (profile !== undefined) policy.join(profile);
  return { policy, profile };
}

function outputOf(report: Report, summary: Summary, flags: Flags, progress: Progress): string {
  switch (flags.output) {
    case 'json':
      return report.reviewsOnly ? answersOutput(report) : jsonOutput(report, summary);
    case 'yaml':
      return yamlOutput(report, progress);
    case 'junit':
      return junitOutput(report, flags.strict === true);
    case 'text':
      return textOutput(report, summary, painter(hasColor(flags.color)), progress);
  }
}

/** See https://no-color.org. */
function hasColor(flag: boolean | undefined): boolean {
  const { NO_COLOR, TERM } = process.env;
  return flag ?? (process.stdout.isTTY === true && (NO_COLOR ?? '') === '' && TERM !== 'dumb');
}

/** What belongs on standard error: faults always, and what the output itself has no place for. */
function messagesFor(report: Report, summary: Summary, flags: Flags): string {
  const lines = report.faults.map((fault) => `cni-gate: ${placeOf(fault)}: ${fault.message} (${fault.code})`);
  const answers = flags.output === 'json' && report.reviewsOnly;
  if (answers || flags.output === 'yaml') {
    for (const { workload, verdict } of report.judged) {
      const place = `${workload.document.file}:${workload.line}`;
      if (verdict.message !== undefined) lines.push(`cni-gate: ${place}: refused: ${verdict.message}`);
      for (const warning of verdict.warnings) lines.push(`cni-gate: ${place}: warning: ${warning}`);
    }
  }
  const others = Object.entries(summary.passedBy);
  if (answers && others.length > 0) {
    lines.push(`cni-gate: passed by: ${others.map(([kind, count]) => `${count} ${kind}`).join(', ')}`);
  }
  return lines.map((line) => `${clean(line)}\n`).join('');
}
