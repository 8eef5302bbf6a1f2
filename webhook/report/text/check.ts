import { clean } from '../../lib/clean.ts';
import { wrap } from '../../lib/wrap.ts';
import type { CheckResult } from '../checks/finding.ts';
import type { Check, CheckReport } from '../checks/report.ts';
import { clusterText, type Paint, plain, type TextOptions } from './table.ts';

/** How a result is marked, and in which colour. */
const marks: Record<CheckResult, { mark: string; style: Parameters<Paint>[0] }> = {
  passed: { mark: '✓', style: 'green' },
  failed: { mark: '✗', style: 'red' },
  warning: { mark: '!', style: 'yellow' },
  'not-known': { mark: '?', style: 'yellow' },
  skipped: { mark: '-', style: 'dim' },
};

/** Before what belongs to a check. */
const indent = '    ';

/** A report for people, 100 columns wide in a file or a pipe: every check, and of those that did not pass what to do. */
export function checkText(report: CheckReport, { width = 100, paint = plain }: TextOptions = {}): string {
  const { time, cluster, configuration, checks, proposals, headline, result, counts } = report;
  const style = result !== 'passed' ? 'red' : counts.warning > 0 ? 'yellow' : 'green';
  const column = Math.max(...checks.map(({ id }) => id.length)) + 4;
  const isGone =
    result === 'not-installed' ||
    checks.some(({ id, result }) => id === 'not-installed-yet' && result === 'passed');
  const lines = [
    // in one line, however long: scripts and people read the first one
    paint(style, clean(headline)),
    ...wrap(clean(clusterText(cluster, isGone)), width),
    ...wrap(clean(`Checked at ${time}, by ${configuration}`), width),
    ...[...Map.groupBy(checks, ({ group }) => group)].flatMap(([group, found]) => [
      '',
      paint('bold', group),
      ...found.flatMap((check) => checkLines(check, { width, column, paint })),
    ]),
    ...proposals.flatMap(({ profile, command, problem }) => [
      '',
      paint('bold', 'to opt a namespace in, after the installation'),
      // in one piece, to be copied
      ...(command === ''
        ? wrap(clean(`${indent}${profile} is not possible: ${problem}`), width, indent)
        : [indent + command]),
    ]),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

interface Layout {
  width: number;
  /** Where the column of what was seen begins. */
  column: number;
  paint: Paint;
}

function checkLines(check: Check, { width, column, paint }: Layout): string[] {
  const { id, what, hint, link, result, code } = check;
  const { style, mark } = marks[result];
  const [first = '', ...more] = wrap(clean(code === null ? what : `${what} (${code})`), width - column, '');
  return [
    `${paint(style, mark)} ${id.padEnd(column - 2)}${first}`,
    ...more.map((line) => ' '.repeat(column) + line),
    ...(hint === '' ? [] : wrap(indent + clean(hint), width, indent)),
    ...(result === 'passed' || result === 'skipped' ? [] : [indent + link]),
  ];
}
