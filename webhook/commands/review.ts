import { Command, Option } from 'commander';
import { readPolicy } from '../config/file.ts';
import { clean } from '../lib/clean.ts';
import { CniGateError } from '../lib/errors.ts';
import { remote } from '../review/ask/remote.ts';
import { standardInput } from '../review/input/inputs.ts';
import { placeOf, type Report } from '../review/model.ts';
import { githubOutput } from '../review/output/github.ts';
import { gitlabOutput } from '../review/output/gitlab.ts';
import { answersOutput, jsonOutput } from '../review/output/json.ts';
import { junitOutput } from '../review/output/junit.ts';
import { reportRoot } from '../review/output/root.ts';
import { sarifOutput } from '../review/output/sarif.ts';
import { tableOutput } from '../review/output/table.ts';
import { painter, textOutput } from '../review/output/text.ts';
import { yamlOutput } from '../review/output/yaml.ts';
import { Progress } from '../review/progress.ts';
import { type ReviewOptions, review } from '../review/run.ts';
import { exitCodeOf, type Summary, summarize } from '../review/summary.ts';
import { addWrappedHelp } from './help-text.ts';
import { milliseconds } from './options.ts';

/** The forms of the output. */
const forms = ['text', 'json', 'yaml', 'junit', 'sarif', 'github', 'gitlab'] as const;

interface Flags {
  filename: string[];
  profile?: string;
  namespace: string;
  config?: string;
  server?: string;
  ca?: string;
  timeout: number;
  output: (typeof forms)[number];
  strict?: true;
  summary?: true;
  assumeMeshed?: true;
  changedSince?: string;
  color?: boolean;
}

const more = `Reviewed objects: Pod, Deployment, StatefulSet, DaemonSet, ReplicaSet, ReplicationController, Job, CronJob, PodTemplate; kinds of Argo, Knative, Kubeflow, OpenShift, OpenKruise and others, and those that the configuration adds; any custom resource with spec.template.spec.containers; Lists of them, and AdmissionReviews about pods.
All other objects are only counted.
A namespace opts in by the label cni-gate.io/profile of a Namespace anywhere in the input, or by --profile.

Output:
  text   a unified diff for each workload, then counts; with --summary a line for each workload, then counts
  json   a report; if the input is AdmissionReviews only, these with their responses instead, one a line, or a list in one line if the input is a list
  yaml   the patched input, with its comments and order; messages go to standard error
  junit  a test suite for each file, a test case for each workload
  sarif  SARIF 2.1.0: a result for each refusal, warning and unreadable input
  github the same as annotations of a GitHub Actions step
  gitlab the same as a Code Quality report of GitLab

Exit code: 0 nothing is wrong; 1 a refusal, or with --strict a warning: an unknown key under cni-gate.io/, an opted-in namespace in which no pod is checked, a namespace that is not in the input, a pod without its mesh's proxy; 2 wrong usage or unreadable input.`;

/** `cni-gate review`: what admission would do to manifests, without a cluster. Sets `process.exitCode`. */
export function reviewCommand(): Command {
  const command = new Command('review');
  addWrappedHelp(command, more);
  return command
    .description('show what admission would do to manifests; needs no cluster')
    .requiredOption(
      '-f, --filename <path...>',
      'files, folders (.yaml .yml .json), globs, or - for standard input',
    )
    .option('-n, --namespace <namespace>', 'namespace of objects that name none', 'default')
    .option('--config <file>', 'configuration (default: built-in profiles)')
    .option('--profile <profile>', 'profile of every namespace, instead of its label')
    .addOption(
      new Option(
        '--server <url>',
        'ask a running server, which knows its configuration and namespaces',
      ).conflicts(['profile', 'config']),
    )
    .option('--ca <file>', 'authority that signed the certificate of the server; with --server')
    .addOption(
      new Option('--timeout <duration>', 'how long to wait for each answer of the server')
        .argParser(milliseconds)
        .default(10_000, '10s'),
    )
    .addOption(new Option('-o, --output <form>', 'what to print').choices(forms).default('text'))
    .option('--strict', 'exit with 1 for warnings too: for CI')
    .addOption(new Option('--summary', 'one line for each workload instead of its diff'))
    .addOption(
      new Option(
        '--assume-meshed',
        'check pods that request linkerd or Istio as if the injector had run',
      ).conflicts('server'),
    )
    .option('--changed-since <revision>', 'report only workloads that changed since a Git revision')
    .option('--color', 'colours even if the output is not a terminal')
    .option('--no-color', 'no colours (also: NO_COLOR in the environment)')
    .action(run);
}

async function run(flags: Flags): Promise<void> {
  const progress = new Progress(process.stderr);
  const {
    filename: names,
    namespace,
    summary: short,
    output: form,
    assumeMeshed = false,
    changedSince,
  } = flags;
  if (short && form !== 'text') {
    throw new CniGateError('CNI_GATE_USAGE', `--summary is text: it does not go with --output ${form}`);
  }
  if (changedSince !== undefined && form === 'yaml') {
    throw new CniGateError(
      'CNI_GATE_USAGE',
      '--changed-since does not go with --output yaml, which is the whole input',
    );
  }
  if (changedSince !== undefined && names.includes(standardInput)) {
    throw new CniGateError('CNI_GATE_USAGE', '--changed-since compares files: it does not go with -f -');
  }
  const report = await review({
    names,
    namespace,
    admission: admissionOf(flags),
    assumeMeshed,
    changedSince,
    progress,
  });
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
  const strict = flags.strict === true;
  switch (flags.output) {
    case 'json':
      return report.reviewsOnly ? answersOutput(report) : jsonOutput(report, summary);
    case 'yaml':
      return yamlOutput(report, progress);
    case 'junit':
      return junitOutput(report, strict);
    case 'sarif':
      return sarifOutput(report, strict, reportRoot(process.env, process.cwd()));
    case 'github':
      return githubOutput(report, summary, strict, reportRoot(process.env, process.cwd()));
    case 'gitlab':
      return gitlabOutput(report, strict, reportRoot(process.env, process.cwd()));
    case 'text': {
      const options = { paint: painter(hasColor(flags.color)), strict, progress };
      return flags.summary ? tableOutput(report, summary, options) : textOutput(report, summary, options);
    }
  }
}

/** See https://no-color.org. */
function hasColor(flag: boolean | undefined): boolean {
  const { NO_COLOR, TERM } = process.env;
  return flag ?? (process.stdout.isTTY === true && (NO_COLOR ?? '') === '' && TERM !== 'dumb');
}

/** What belongs on standard error: faults, and what the output itself has no place for. */
function messagesFor(report: Report, summary: Summary, flags: Flags): string {
  // a step of GitHub Actions shows both streams in one log, where the annotations say it
  if (flags.output === 'github') return '';
  const word = flags.strict ? 'error' : 'warning';
  const lines = report.faults.map((fault) => `cni-gate: ${placeOf(fault)}: ${fault.message} (${fault.code})`);
  const answers = flags.output === 'json' && report.reviewsOnly;
  if (answers || flags.output === 'yaml') {
    for (const { workload, verdict } of report.reviewed) {
      const place = `${workload.document.file}:${workload.line}`;
      if (verdict.message !== undefined) lines.push(`cni-gate: ${place}: refused: ${verdict.message}`);
      for (const warning of verdict.warnings) lines.push(`cni-gate: ${place}: ${word}: ${warning}`);
    }
    for (const finding of report.findings) {
      const { subject, message, code } = finding;
      lines.push(`cni-gate: ${placeOf(finding)}: ${word}: ${subject}: ${message} (${code})`);
    }
  }
  const others = Object.entries(summary.otherObjects);
  if (answers && others.length > 0) {
    lines.push(`cni-gate: other objects: ${others.map(([kind, count]) => `${kind} ${count}`).join(', ')}`);
  }
  return lines.map((line) => `${clean(line)}\n`).join('');
}
