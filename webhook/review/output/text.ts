import { styleText } from 'node:util';
import type { Outcome } from '../../admission/mutate/decide.ts';
import { clean } from '../../lib/clean.ts';
import { wrap } from '../../lib/wrap.ts';
import { type Finding, nameOf, notesOn, placeOf, type Report, type Reviewed } from '../model.ts';
import { exitCodeOf, type Summary } from '../summary.ts';
import { diffsOf } from './diff.ts';

/** A style or a color of a terminal. */
type Style = Parameters<typeof styleText>[0];

/** @param color whether to use colours */
export const painter =
  (color: boolean): TextOptions['paint'] =>
  (style, text) =>
    color ? styleText(style, text, { validateStream: false }) : text;

/** How each outcome looks on a terminal. */
export const styles: Record<Outcome, Style> = {
  injected: 'green',
  updated: 'green',
  current: 'dim',
  removed: 'yellow',
  skipped: 'dim',
  warned: 'yellow',
  refused: 'red',
};

/** Options of {@link textOutput}. */
export interface TextOptions {
  /** Colours a text, or returns it unchanged. */
  paint: (style: Style, text: string) => string;
  /** Characters of a line: sentences are wrapped, lines of a diff are cut. */
  width: number;
  /** Whether warnings and findings cause exit code 1. */
  strict?: boolean;
}

/** The text output: a header and a unified diff for each workload, then findings and totals. */
export function textOutput(report: Report, summary: Summary, options: TextOptions): string {
  const { paint } = options;
  const findings = Map.groupBy(report.findings, ({ workload }) => workload);
  const lines: string[] = [];
  for (const [document, reviewed] of Map.groupBy(report.reviewed, (one) => one.workload.document)) {
    const diffs = diffsOf(document, reviewed);
    for (const one of reviewed) {
      const texts = [header(one, paint), ...notes(one, findings.get(one.workload) ?? [], options)];
      lines.push(...texts.flatMap((text) => wrap(text, options.width, '    ')));
      lines.push(...diff(one, diffs.get(one), options));
    }
  }
  lines.push(...findingLines(findings.get(undefined) ?? [], options), ...totals(summary, options));
  return lines.map((line) => `${line}\n`).join('');
}

/** The line above the changes of a workload: outcome, name, place and reason. */
export function header({ workload, verdict }: Reviewed, paint: TextOptions['paint']): string {
  const { outcome, reason, profiles, message } = verdict;
  const place = `${workload.document.file}:${workload.line}`;
  const why = profiles.join(', ') || message || reason;
  const name = paint('bold', clean(nameOf(workload)));
  return `${paint(styles[outcome], outcome)} ${name} (${clean(place)}): ${clean(why)}`;
}

function notes(one: Reviewed, findings: readonly Finding[], options: TextOptions): string[] {
  return [
    ...notesOn(one).map((note) => `  note: ${clean(note)}`),
    ...one.verdict.warnings.map((warning) => `  ${label(options)}: ${clean(warning)}`),
    ...findings.map((finding) => `  ${label(options)}: ${clean(messageOf(finding))}`),
  ];
}

/** The word before a warning: `error` if it fails the review. */
export const label = ({ paint, strict }: TextOptions): string =>
  strict ? paint('red', 'error') : paint('yellow', 'warning');

const messageOf = ({ message, code }: Finding): string => `${message} (${code})`;

/** No diff for a skipped workload: it only gets the mark of a review. */
function diff(
  { workload, verdict }: Reviewed,
  lines: string[] | undefined,
  { paint, width }: TextOptions,
): string[] {
  if (lines === undefined || verdict.outcome === 'skipped') return [];
  const file = clean(workload.document.file);
  return [
    paint('bold', `--- ${file}`),
    paint('bold', `+++ ${file} as admitted`),
    ...lines.map((line) => {
      const style = { '+': 'green', '-': 'red', '@': 'cyan' }[line.charAt(0)] as Style | undefined;
      const whole = clean(line);
      const text = whole.length <= width ? whole : `${whole.slice(0, width - 1)}…`;
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
    return wrap(`${label(options)} ${name} (${place}): ${clean(messageOf(finding))}`, options.width);
  });
}

/** The totals at the end of text and summary. */
export function totals(summary: Summary, { paint, strict, width }: TextOptions): string[] {
  const { workloads, refused, errors, skipped, otherObjects } = summary;
  const warnings = summary.warnings + summary.findings;
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
    paint(
      warnings === 0 ? 'dim' : strict ? 'red' : 'yellow',
      counted(warnings, strict ? 'error' : 'warning'),
    ),
    `${counted(sum(otherObjects), 'other object')}${clean(counts(otherObjects))}`,
    ...(summary.unknownKinds > 0 ? [`${counted(summary.unknownKinds, 'workload')} of an unknown kind`] : []),
    ...(errors > 0 ? [paint('red', `${errors} unreadable`)] : []),
  ].join(', ');
  const left = summary.unchanged === undefined ? '' : ` (${summary.unchanged} unchanged)`;
  const lines = [`reviewed ${counted(workloads, 'workload')}${left}: ${outcomes}`, rest];
  if (summary.notRead.length > 0) lines.push(`not read: ${someOf(summary.notRead.map(clean))}`);
  const passed = exitCodeOf(summary, strict === true) === 0;
  lines.push(passed ? paint('green', 'passed') : paint('red', 'failed'));
  return lines.flatMap((line) => wrap(line, width));
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
