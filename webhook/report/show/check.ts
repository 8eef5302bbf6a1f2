import { clean } from '../../lib/clean.ts';
import { timeText } from '../../lib/time-text.ts';
import { wrap } from '../../lib/wrap.ts';
import { type CheckRow, checksOf } from '../judge/catalogue.ts';
import type { CheckOutcome } from '../judge/check-result.ts';
import { networkFits, proposalsOf } from '../judge/namespaces.ts';
import type { Facts } from '../observe/observe.ts';
import { clusterText, type Paint, plain, type TextOptions } from './table.ts';

/** A check in the JSON output. */
export type Check = ReturnType<typeof checkJson>;

/** Removes the field `essential`, which only verdicts use. */
export const checkJson = ({ essential: _, ...check }: CheckRow) => check;

/** `not-known`: nothing is known to be wrong, but a right is missing that a verdict needs. */
export type CheckVerdict = 'passed' | 'failed' | 'not-known' | 'not-installed';

/** What `check --output json` prints; `schemas/check.json` describes each field. */
export type CheckReport = ReturnType<typeof checkReport>;

/** The report of all checks for which there are facts. @param now milliseconds since the epoch */
export function checkReport(facts: Facts, now: number) {
  const { configuration, cluster } = facts;
  const rows = checksOf(facts, now);
  const checks = rows.map(checkJson);
  const result = verdictOf(rows);
  const counts = { passed: 0, failed: 0, warning: 0, 'not-known': 0, skipped: 0 };
  for (const check of checks) counts[check.result] += 1;
  return {
    time: timeText(now),
    mode: facts.rights ? 'pre' : 'installed',
    result,
    headline: headlineOf(result, checks),
    cluster,
    configuration: configuration.source,
    counts,
    checks,
    networks: facts.rights ? networkFits(facts) : [],
    proposals: facts.rights ? proposalsOf(facts) : [],
  };
}

function verdictOf(rows: readonly CheckRow[]): CheckVerdict {
  if (rows.some(({ id, result }) => id === 'installed' && result === 'failed')) return 'not-installed';
  if (rows.some(({ result }) => result === 'failed')) return 'failed';
  return rows.some(({ result, essential }) => result === 'not-known' && essential) ? 'not-known' : 'passed';
}

/** The result in one line, with the first failed check, because the catalogue lists causes before consequences. */
function headlineOf(verdict: CheckVerdict, checks: readonly Check[]): string {
  const having = (result: CheckOutcome): Check[] => checks.filter((check) => check.result === result);
  const [bad, warnings, unknown] = [having('failed'), having('warning'), having('not-known')];
  const made = checks.length - unknown.length - having('skipped').length;
  const first = bad.find(({ id }) => verdict !== 'not-installed' || id === 'installed');
  if (first) return `${bad.length} of ${made} checks failed. ${first.id}: ${first.what} (${first.code})`;
  const dark = unknown.length > 0 ? ` Not known: ${unknown.map(({ id }) => id).join(', ')}.` : '';
  if (verdict === 'not-known') return `It is not known whether all is well: ${made} checks passed.${dark}`;
  const texts = warnings.map(({ id, what }) => `${id}: ${what}`);
  return texts.length > 0
    ? `No check failed. Warnings: ${texts.join('; ')}.${dark}`
    : `All ${made} checks passed.${dark}`;
}

/** The mark of each result, and its colour. */
const marks: Record<CheckOutcome, [mark: string, style: Parameters<Paint>[0]]> = {
  passed: ['✓', 'green'],
  failed: ['✗', 'red'],
  warning: ['!', 'yellow'],
  'not-known': ['?', 'yellow'],
  skipped: ['-', 'dim'],
};

/** The indent of the lines below a check. */
const indent = '    ';

/** A report for people: every check, and what to do about each one that did not pass; by default 100 columns wide. */
export function checkText(report: CheckReport, { width = 100, paint = plain }: TextOptions = {}): string {
  const { time, cluster, configuration, checks, proposals, headline, result, counts } = report;
  const style = result !== 'passed' ? 'red' : counts.warning > 0 ? 'yellow' : 'green';
  const isAbsent = checks.some((check) => check.id === 'not-installed-yet' && check.result === 'passed');
  const column = Math.max(...checks.map(({ id }) => id.length)) + 4;
  const checkLines = (check: Check): string[] => {
    const [mark, colour] = marks[check.result];
    const what = check.code === null ? check.what : `${check.what} (${check.code})`;
    const [first = '', ...more] = wrap(clean(what), width - column, '');
    return [
      `${paint(colour, mark)} ${check.id.padEnd(column - 2)}${first}`,
      ...more.map((line) => ' '.repeat(column) + line),
      ...(check.hint === '' ? [] : wrap(indent + clean(check.hint), width, indent)),
      ...(check.result === 'passed' || check.result === 'skipped' ? [] : [indent + check.link]),
    ];
  };
  const lines = [
    // never wrapped, because scripts and people read the headline as the first line
    paint(style, clean(headline)),
    ...wrap(clean(clusterText(cluster, isAbsent || result === 'not-installed')), width),
    ...wrap(clean(`Checked at ${time}, by ${configuration}`), width),
    ...[...Map.groupBy(checks, ({ group }) => group)].flatMap(([group, same]) => [
      '',
      paint('bold', group),
      ...same.flatMap(checkLines),
    ]),
    ...proposals.flatMap(({ profile, command, problem }) => [
      '',
      paint('bold', 'to opt a namespace in, after the installation'),
      // the command is not wrapped, so that it can be copied
      ...(command === '' ? wrap(clean(`${profile} is not possible: ${problem}`), width) : [indent + command]),
    ]),
  ];
  return lines.map((line) => `${line}\n`).join('');
}
