import { readPolicy } from '../config/load.ts';
import { clean } from '../lib/clean.ts';
import { exitCodeOf, isRecorded, placeOf, type Report, type Summary, summarize } from '../review/model.ts';
import { problemsOf, reportRoot } from '../review/output/problems.ts';
import {
  answersOutput,
  githubOutput,
  gitlabOutput,
  jsonOutput,
  junitOutput,
  sarifOutput,
} from '../review/output/reports.ts';
import { textOutput, yamlOutput } from '../review/output/text.ts';
import { review } from '../review/run.ts';
import { paint, type reviewForms, usageError } from './options.ts';

/** The flags of `cni-gate review`. */
export interface ReviewFlags {
  /** The paths that the arguments and `-f` name. */
  filename: string[];
  profile?: string;
  namespace: string;
  config?: string;
  output: (typeof reviewForms)[number];
  strict?: true;
  summary?: true;
  assumeMeshed?: true;
}

/** What the command prints, and its exit code. */
export interface ReviewResult {
  status: number;
  /** The text for standard output, in parts. Reading a part may generate it. */
  output: Iterable<string>;
  /** The text for standard error. */
  messages: string;
}

/** Reviews the input, writes the output, and sets `process.exitCode`. */
export async function runReview(flags: ReviewFlags): Promise<void> {
  const { status, output, messages } = await resultOf(flags);
  process.exitCode = status;
  // standard error first, because writing to standard output fails if its reader stops early
  process.stderr.write(messages);
  for (const text of output) {
    // a reader that stops early, such as `head`, has closed the pipe
    if (!process.stdout.writable) break;
    process.stdout.write(text);
  }
}

/**
 * Reviews the input, and returns what to print.
 *
 * @throws CniGateError CNI_GATE_USAGE, and the errors of {@link review}
 */
export async function resultOf(flags: ReviewFlags): Promise<ReviewResult> {
  const { filename: names, namespace, assumeMeshed, config, profile, output } = flags;
  if (names.length === 0) throw usageError('expected a file or folder to review, or - for standard input');
  if (flags.summary && output !== 'text')
    throw usageError(`--summary is text, and cannot be combined with --output ${output}`);
  const policy = readPolicy(config);
  // reports an unknown profile once, instead of refusing every pod for it
  if (profile !== undefined) policy.combineProfiles(profile);
  const report = await review({ names, namespace, policy, profile, assumeMeshed });
  const summary = summarize(report);
  return {
    status: exitCodeOf(summary, flags.strict === true),
    output: outputOf(report, summary, flags),
    messages: messagesFor(report, flags),
  };
}

function outputOf(report: Report, summary: Summary, flags: ReviewFlags): Iterable<string> {
  const strict = flags.strict === true;
  const root = reportRoot(process.env);
  const problems = problemsOf(report, strict, root);
  switch (flags.output) {
    case 'json':
      return [isRecorded(report) ? answersOutput(report) : jsonOutput(report, summary)];
    case 'yaml':
      return yamlOutput(report);
    case 'junit':
      return [junitOutput(report, problems, root)];
    case 'sarif':
      return [sarifOutput(problems)];
    case 'github':
      return [githubOutput(problems, summary, strict)];
    case 'gitlab':
      return [gitlabOutput(problems)];
    case 'text':
      return textOutput(report, summary, { paint, strict, diff: flags.summary !== true });
  }
}

/** The text for standard error: unreadable input, and all problems if standard output has only manifests or answers. */
function messagesFor(report: Report, { output, strict }: ReviewFlags): string {
  // the log of a GitHub Actions step shows both streams, and the annotations in standard output have the problems
  if (output === 'github') return '';
  const all = output === 'yaml' || (output === 'json' && isRecorded(report));
  const shown = all ? report : { ...report, reviewed: [], findings: [] };
  const lines = problemsOf(shown, strict === true, '.').map(
    (problem) =>
      `cni-gate: ${clean(placeOf(problem))}: ${problem.level}: ${problem.text} (${problem.code})\n`,
  );
  return lines.join('');
}
