import { readPolicy } from '../config/load.ts';
import { clean } from '../lib/clean.ts';
import { CniGateError } from '../lib/errors.ts';
import type { AdmissionOptions } from '../review/ask/judge.ts';
import { standardInput } from '../review/input/files.ts';
import { placeOf, type Report } from '../review/model.ts';
import { githubOutput } from '../review/output/github.ts';
import { gitlabOutput } from '../review/output/gitlab.ts';
import { answersOutput, jsonOutput } from '../review/output/json.ts';
import { junitOutput } from '../review/output/junit.ts';
import { reportRoot } from '../review/output/problems.ts';
import { sarifOutput } from '../review/output/sarif.ts';
import { tableOutput } from '../review/output/table.ts';
import { painter, textOutput } from '../review/output/text.ts';
import { yamlOutput } from '../review/output/yaml.ts';
import { review } from '../review/run.ts';
import { exitCodeOf, type Summary, summarize } from '../review/summary.ts';
import type { OutputForm } from './review.ts';

/** The flags of the command. */
export interface ReviewFlags {
  /** What the arguments and `-f` name. */
  filename: string[];
  kustomize: string[];
  profile?: string;
  namespace: string;
  config?: string;
  ownNamespace: string;
  output: OutputForm;
  strict?: true;
  summary?: true;
  assumeMeshed?: true;
  changedSince?: string;
  color?: boolean;
}

/** What the command prints, and its exit code. */
export interface ReviewResult {
  status: number;
  /** For standard output. */
  output: string;
  /** For standard error. */
  messages: string;
}

/** Reviews, writes the output, and sets `process.exitCode`. */
export async function runReview(flags: ReviewFlags): Promise<void> {
  const { status, output, messages } = await resultOf(flags);
  process.exitCode = status;
  // messages first: a reader of the output may stop in the middle of it
  process.stderr.write(messages);
  process.stdout.write(output);
}

/**
 * Reviews, and returns what to print.
 *
 * @throws CniGateError CNI_GATE_USAGE, and the errors of {@link review}
 */
export async function resultOf(flags: ReviewFlags): Promise<ReviewResult> {
  const {
    filename: names,
    kustomize,
    namespace,
    summary: short,
    output: form,
    assumeMeshed = false,
    changedSince,
  } = flags;
  const sincePast = changedSince !== undefined;
  const wrong: [boolean, string][] = [
    [names.length + kustomize.length === 0, 'expected a file or folder to review, or - for standard input'],
    [short === true && form !== 'text', `--summary is text: it does not go with --output ${form}`],
    [sincePast && kustomize.length > 0, '--changed-since compares files: it does not go with -k'],
    [sincePast && names.includes(standardInput), '--changed-since compares files: it does not go with -f -'],
    [
      sincePast && form === 'yaml',
      '--changed-since does not go with --output yaml, which is the whole input',
    ],
  ];
  for (const [is, message] of wrong) if (is) throw new CniGateError('CNI_GATE_USAGE', message);
  const report = await review({
    names,
    kustomize,
    namespace,
    admission: admissionOf(flags),
    assumeMeshed,
    changedSince,
  });
  const summary = summarize(report);
  return {
    status: exitCodeOf(summary, flags.strict === true),
    output: outputOf(report, summary, flags),
    messages: messagesFor(report, summary, flags),
  };
}

function admissionOf({ config, profile, ownNamespace }: ReviewFlags): AdmissionOptions {
  const policy = readPolicy(config);
  // one that does not exist is one error, instead of a refusal of every pod
  if (profile !== undefined) policy.combineProfiles(profile);
  return { policy, profile, ownNamespace };
}

function outputOf(report: Report, summary: Summary, flags: ReviewFlags): string {
  const strict = flags.strict === true;
  switch (flags.output) {
    case 'json':
      return report.reviewsOnly ? answersOutput(report) : jsonOutput(report, summary);
    case 'yaml':
      return yamlOutput(report);
    case 'junit':
      return junitOutput(report, strict);
    case 'sarif':
      return sarifOutput(report, strict, reportRoot(process.env));
    case 'github':
      return githubOutput(report, summary, strict, reportRoot(process.env));
    case 'gitlab':
      return gitlabOutput(report, strict, reportRoot(process.env));
    case 'text': {
      const options = { paint: painter(hasColor(flags.color)), width: lineWidth(), strict };
      return flags.summary ? tableOutput(report, summary, options) : textOutput(report, summary, options);
    }
  }
}

/** That of COLUMNS or of the terminal, or one that fits into the logs of CI systems. */
const lineWidth = (): number => Number(process.env.COLUMNS) || process.stdout.columns || 100;

/** See https://no-color.org. */
function hasColor(flag: boolean | undefined): boolean {
  const { NO_COLOR, TERM } = process.env;
  return flag ?? (process.stdout.isTTY === true && (NO_COLOR ?? '') === '' && TERM !== 'dumb');
}

/** What belongs on standard error: faults, and what the output itself has no place for. */
function messagesFor(report: Report, summary: Summary, flags: ReviewFlags): string {
  // a step of GitHub Actions shows both streams in one log, where the annotations say it
  if (flags.output === 'github') return '';
  const word = flags.strict ? 'error' : 'warning';
  const lines = report.faults.map((fault) => `cni-gate: ${placeOf(fault)}: ${fault.message} (${fault.code})`);
  const answers = flags.output === 'json' && report.reviewsOnly;
  if (answers || flags.output === 'yaml') {
    for (const one of report.reviewed) {
      const { workload, verdict } = one;
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
