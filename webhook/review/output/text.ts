import type { styleText } from 'node:util';
import type { Outcome } from '../../admission/mutate.ts';
import { clean } from '../../lib/clean.ts';
import {
  exitCodeOf,
  type Finding,
  nameOf,
  notesOn,
  placeOf,
  type Report,
  type Reviewed,
  type Summary,
} from '../model.ts';
import { diffOf } from './patched.ts';

/** The style of each outcome on a terminal. */
const styles = {
  injected: 'green',
  updated: 'green',
  current: 'dim',
  removed: 'yellow',
  skipped: 'dim',
  warned: 'yellow',
  refused: 'red',
} as const satisfies Record<Outcome, Parameters<typeof styleText>[0]>;

/** How to write the text. */
export interface TextOptions {
  /** Colours a text, or returns it unchanged. */
  paint: (style: 'bold' | 'dim' | 'green' | 'red' | 'yellow', text: string) => string;
  /** Whether warnings and findings cause exit code 1. */
  strict: boolean;
  /** Whether to show a diff of each workload that changes. */
  diff: boolean;
}

/** The text output: for each workload a header and, if requested, a unified diff; then findings and totals. */
export function* textOutput(report: Report, summary: Summary, options: TextOptions): Generator<string> {
  const findings = Map.groupBy(report.findings, ({ workload }) => workload);
  for (const entry of report.reviewed) {
    const lines = [header(entry, options), ...notes(entry, findings.get(entry.workload) ?? [], options)];
    if (options.diff && isChanged(entry)) lines.push(...diff(entry, options));
    yield text(lines);
  }
  yield text([...findingLines(findings.get(undefined) ?? [], options), ...totals(summary, options)]);
}

const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');

/** The line above the changes of a workload: outcome, name, place and reason. */
function header({ workload, decision }: Reviewed, { paint }: TextOptions): string {
  const { outcome, reason, profiles, message } = decision;
  const place = `${workload.document.file}:${workload.line}`;
  const why = profiles.join(', ') || message || reason;
  const name = paint('bold', clean(nameOf(workload)));
  return `${paint(styles[outcome], outcome)} ${name} (${clean(place)}): ${clean(why)}`;
}

function notes(entry: Reviewed, findings: readonly Finding[], options: TextOptions): string[] {
  return [
    ...notesOn(entry.decision).map((note) => `  note: ${clean(note)}`),
    ...[...entry.decision.warnings, ...findings.map(textOf)].map(
      (text) => `  ${label(options)}: ${clean(text)}`,
    ),
  ];
}

const textOf = ({ message, code }: Finding): string => `${message} (${code})`;

/** The label of a warning: `error` if it fails the review. */
const label = ({ paint, strict }: TextOptions): string =>
  strict ? paint('red', 'error') : paint('yellow', 'warning');

/** Whether to show a diff. The patch of a skipped workload only records the review, and is not shown. */
const isChanged = ({ decision }: Reviewed): boolean =>
  decision.operations.length > 0 && decision.outcome !== 'skipped';

function diff(entry: Reviewed, { paint }: TextOptions): string[] {
  const style = { '+': 'green', '-': 'red', '@': 'dim', ' ': undefined } as const;
  return diffOf(entry)
    .map(clean)
    .map((line) => {
      const colour = style[line.charAt(0) as keyof typeof style];
      return colour === undefined ? line : paint(colour, line);
    });
}

/** Findings, each with the name and position of its subject. */
const findingLines = (findings: readonly Finding[], options: TextOptions): string[] =>
  findings.map((finding) => {
    const name = options.paint('bold', clean(finding.subject));
    return `${label(options)} ${name} (${clean(placeOf(finding))}): ${clean(textOf(finding))}`;
  });

/** The totals; the last word is `passed` or `failed`. The first and last line contain no text of the input. */
export function totals(
  summary: Summary,
  { paint, strict }: Omit<TextOptions, 'diff'>,
): [string, string, string] {
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
  ];
  const style = warnings === 0 ? 'dim' : strict ? 'red' : 'yellow';
  const rest = [
    paint(style, counted(warnings, strict ? 'error' : 'warning')),
    `${counted(sum(otherObjects), 'other object')}${clean(counts(otherObjects))}`,
    ...(errors > 0 ? [paint('red', `${errors} unreadable`)] : []),
  ];
  const passed = exitCodeOf(summary, strict) === 0;
  return [
    `reviewed ${counted(workloads, 'workload')}: ${outcomes.join(', ')}`,
    rest.join(', '),
    passed ? paint('green', 'passed') : paint('red', 'failed'),
  ];
}

const counts = (by: Record<string, number>): string => {
  const each = Object.entries(by).map(([name, count]) => `${name} ${count}`);
  return each.length === 0 ? '' : ` (${each.join(', ')})`;
};
const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
const some = (count: number, what: string): string[] => (count > 0 ? [`${count} ${what}`] : []);
const sum = (by: Record<string, number>): number => Object.values(by).reduce((a, b) => a + b, 0);
