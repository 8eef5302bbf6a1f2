import { styleText } from 'node:util';
import { clean } from '../../lib/clean.ts';
import { type Finding, lineOf, placeOf, type Report, type Reviewed, refusalsOf } from '../model.ts';
import { nameOf } from '../name.ts';
import type { Progress } from '../progress.ts';
import { exitCodeOf, type Summary } from '../summary.ts';
import { diffsOf } from './changes.ts';
import { cut, width, wrap } from './columns.ts';
import { notesOn } from './notes.ts';
import { type Style, styles } from './styles.ts';

/** Colours a text, or returns it unchanged. */
export type Paint = (style: Style, text: string) => string;

/** @param color whether to use colours */
export const painter =
  (color: boolean): Paint =>
  (style, text) =>
    color ? styleText(style, text, { validateStream: false }) : text;

/** Options of {@link textOutput}. */
export interface TextOptions {
  paint: Paint;
  /** Whether warnings and findings cause exit code 1. */
  strict?: boolean;
  progress?: Progress;
}

/** The text output: a header and a unified diff for each workload, then findings and totals. */
export function textOutput(report: Report, summary: Summary, options: TextOptions): string {
  const { paint, progress } = options;
  const findings = Map.groupBy(report.findings, ({ workload }) => workload);
  const refusals = refusalsOf(report);
  const lines: string[] = [];
  for (const [document, reviewed] of Map.groupBy(report.reviewed, (one) => one.workload.document)) {
    progress?.tell(() => `comparing ${document.file}:${document.line}`);
    const diffs = diffsOf(document, reviewed);
    for (const one of reviewed) {
      lines.push(
        ...header(one, paint, refusals.get(one.workload)),
        ...notes(one, findings.get(one.workload) ?? [], options),
      );
      lines.push(...diff(one, diffs.get(one), paint));
    }
  }
  lines.push(...findingLines(findings.get(undefined) ?? [], options), ...totals(report, summary, options));
  return lines.map((line) => `${line}\n`).join('');
}

/**
 * The line above the changes of a workload: outcome, name, place and reason.
 *
 * @param cause a finding that says why it is refused
 */
export function header(one: Reviewed, paint: Paint, cause?: Finding): string[] {
  const { workload, verdict } = one;
  const { outcome, reason, profiles, message } = verdict;
  const place = `${workload.document.file}:${lineOf(one)}`;
  const why =
    cause === undefined
      ? profiles.join(', ') || message || reason
      : `the label of ${cause.subject} (${placeOf(cause)})`;
  const name = paint('bold', clean(nameOf(workload)));
  return wrap(`${paint(styles[outcome], outcome)} ${name} (${clean(place)}): ${clean(why)}`, 2);
}

function notes(one: Reviewed, findings: readonly Finding[], options: TextOptions): string[] {
  return [
    ...notesOn(one).map((note) => `  note: ${clean(note)}`),
    ...one.verdict.warnings.map((warning) => `  ${label(options)}: ${clean(warning)}`),
    ...findings.map((finding) => `  ${label(options)}: ${clean(messageOf(finding))}`),
  ].flatMap((line) => wrap(line, 4));
}

/** The word before a warning: `error` if it fails the review. */
export const label = ({ paint, strict }: TextOptions): string =>
  strict ? paint('red', 'error') : paint('yellow', 'warning');

const messageOf = ({ message, code }: Finding): string => `${message} (${code})`;

/** No diff for a skipped workload: it only gets the mark of a review. */
function diff({ workload, verdict }: Reviewed, lines: string[] | undefined, paint: Paint): string[] {
  if (lines === undefined || verdict.outcome === 'skipped') return [];
  const file = clean(workload.document.file);
  return [
    paint('bold', `--- ${file}`),
    paint('bold', `+++ ${file} as admitted`),
    ...lines.map((line) => {
      const style = { '+': 'green', '-': 'red', '@': 'cyan' }[line.charAt(0)] as Style | undefined;
      const text = cut(clean(line), width);
      return style === undefined ? text : paint(style, text);
    }),
    '',
  ];
}

/** Findings, each with the name and position of its subject. */
export function findingLines(findings: readonly Finding[], options: TextOptions): string[] {
  return findings.flatMap((finding) => {
    const name = options.paint('bold', clean(finding.subject));
    const place = clean(placeOf(finding));
    const word = label({ ...options, strict: options.strict === true || finding.refuses !== undefined });
    return wrap(`${word} ${name} (${place}): ${clean(messageOf(finding))}`, 2);
  });
}

/** The totals at the end of text and summary. */
export function totals({ findings }: Report, summary: Summary, { paint, strict }: TextOptions): string[] {
  const { workloads, refused, errors, skipped, otherObjects } = summary;
  const all = summary.warnings + summary.findings;
  const wrong = strict ? all : findings.filter(({ refuses }) => refuses !== undefined).length;
  const warnings = all - wrong;
  const outcomes = [
    `${summary.injected} injected`,
    ...some(summary.updated, 'updated'),
    ...some(summary.current, 'current'),
    ...some(summary.removed, 'removed'),
    ...some(sum(skipped), `skipped${counts(skipped)}`),
    ...some(summary.warned, 'warned'),
    paint(refused > 0 ? 'red' : 'dim', `${refused} refused`),
  ].join(', ');
  const rest = [
    ...(strict || wrong > 0 ? [paint(wrong === 0 ? 'dim' : 'red', counted(wrong, 'error'))] : []),
    ...(strict ? [] : [paint(warnings === 0 ? 'dim' : 'yellow', counted(warnings, 'warning'))]),
    `${counted(sum(otherObjects), 'other object')}${clean(counts(otherObjects))}`,
    ...(summary.unknownKinds > 0 ? [`${counted(summary.unknownKinds, 'workload')} of an unknown kind`] : []),
    ...(errors > 0 ? [paint('red', `${errors} unreadable`)] : []),
  ].join(', ');
  const left = summary.unchanged === undefined ? '' : ` (${summary.unchanged} unchanged)`;
  const lines = [`reviewed ${counted(workloads, 'workload')}${left}: ${outcomes}`, rest];
  if (summary.notRead.length > 0) lines.push(`not read: ${someOf(summary.notRead.map(clean))}`);
  const passed = exitCodeOf(summary, strict === true) === 0;
  lines.push(passed ? paint('green', 'passed') : paint('red', 'failed'));
  return lines.flatMap((line) => wrap(line, 2));
}

const someOf = (paths: readonly string[]): string =>
  [...paths.slice(0, 10), ...(paths.length > 10 ? [`and ${paths.length - 10} more`] : [])].join(', ');
const counts = (by: Record<string, number>): string => {
  const each = Object.entries(by).map(([name, count]) => `${name} ${count}`);
  return each.length === 0 ? '' : ` (${each.join(', ')})`;
};
const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
const some = (count: number, what: string): string[] => (count > 0 ? [`${count} ${what}`] : []);
const sum = (by: Record<string, number>): number => Object.values(by).reduce((a, b) => a + b, 0);
