import { timeText } from '../../lib/time-text.ts';
import { type Row, rowsOf, type Scope } from '../judge/catalogue.ts';
import type { Result } from '../judge/row.ts';
import type { Facts } from '../observe/observe.ts';

/** `not-known`: no check failed, but the caller lacks permissions to read what the verdict needs. */
export type Verdict = 'passed' | 'failed' | 'not-known' | 'not-installed';

/** What `check` and `status` print with `--output json`; `schemas/report.json` describes each field. */
export type Report = ReturnType<typeof reportOf>;

/** Makes the report from the facts about a cluster. Pure: the result depends only on the arguments. */
export function reportOf(facts: Facts, scope: Scope) {
  const rows = rowsOf(facts, scope);
  const result = verdictOf(rows);
  const { configuration, cluster, namespace = null } = facts;
  return {
    time: timeText(facts.now),
    result,
    headline: headlineOf(result, rows),
    cluster,
    configuration: configuration.source,
    namespace,
    rows,
  };
}

/** A report without the rows that passed, except rows with counts and rows of the check `probe`. */
export const briefOf = (report: Report): Report => ({
  ...report,
  rows: report.rows.filter((row) => row.result !== 'passed' || row.counts || row.check === 'probe'),
});

function verdictOf(rows: readonly Row[]): Verdict {
  const failures = rows.filter(({ result }) => result === 'failed');
  if (failures.some(({ check }) => check === 'installed')) return 'not-installed';
  if (failures.length > 0) return 'failed';
  // few users may read the Secret of the certificate, so the verdict does not depend on it
  const isOpen = rows.some(({ check, result }) => result === 'not-known' && check !== 'certificate');
  return isOpen ? 'not-known' : 'passed';
}

/** The result in one line. It names only the first failure, because causes come before their consequences. */
function headlineOf(verdict: Verdict, rows: readonly Row[]): string {
  const checksOf = (result: Result): Row[][] => [
    ...Map.groupBy(
      rows.filter((row) => row.result === result),
      ({ check }) => check,
    ).values(),
  ];
  const [bad, warnings, unknown] = [checksOf('failed'), checksOf('warning'), checksOf('not-known')];
  const made = new Set(rows.map(({ check }) => check)).size - unknown.length;
  const [first] = verdict === 'not-installed' ? bad.filter(([row]) => row?.check === 'installed') : bad;
  if (first) return `${bad.length} of ${made} checks failed. ${textOfCheck(first)}`;
  const dark = unknown.length > 0 ? ` Not known: ${unknown.map(([row]) => row?.check).join(', ')}.` : '';
  if (verdict === 'not-known') return `It is not known whether all is well: ${made} checks passed.${dark}`;
  return warnings.length > 0
    ? `No check failed. Warnings: ${warnings.map(textOfCheck).join('; ')}.${dark}`
    : `All ${made} checks passed.${dark}`;
}

/** The first row of a check, and how many more there are. */
function textOfCheck([first, ...others]: readonly Row[]): string {
  if (first === undefined) return '';
  const { check, object, node, state, what, code } = first;
  const about = [object, node && `on ${node}`, state && `(${state})`].filter(Boolean).join(' ');
  const text = [check, about, what].filter((part) => part !== '').join(': ');
  const more = others.length > 0 ? `, and ${others.length} more` : '';
  return `${text}${more}${code ? ` (${code})` : ''}`;
}
