import { clean } from '../../lib/clean.ts';
import { wrap } from '../../lib/wrap.ts';
import type { CheckResult } from '../checks/finding.ts';
import type { Proposal } from '../checks/networks.ts';
import type { Check, CheckReport } from '../checks/report.ts';
import { clusterText } from '../facts/cluster-identity.ts';
import { type Paint, plain, type TextOptions } from '../text/table.ts';

/** How a result is marked, and in which colour. */
const marks: Record<CheckResult, { mark: string; style: Parameters<Paint>[0] }> = {
  passed: { mark: '✓', style: 'green' },
  failed: { mark: '✗', style: 'red' },
  warning: { mark: '!', style: 'yellow' },
  'not-known': { mark: '?', style: 'yellow' },
  skipped: { mark: '-', style: 'dim' },
};

/** How wide text is where nothing says how wide: also what goes into a file or a pipe. */
const defaultWidth = 100;

/** A narrower terminal breaks lines by itself. */
const leastWidth = 60;
/** Before what belongs to a check. */
const indent = '    ';

/** A report for people: every check, and of those that did not pass what to do. */
export function checkText(
  report: CheckReport,
  { width: asked = defaultWidth, paint = plain }: TextOptions = {},
): string {
  const width = Math.max(asked, leastWidth);
  const { time, cluster, configuration, checks, proposals } = report;
  const column = Math.max(...checks.map(({ id }) => id.length)) + 4;
  const groups = Map.groupBy(checks, ({ group }) => group);
  const lines = [
    headline(report, paint),
    ...wrap(clean(clusterText(cluster, isGone(report))), width),
    ...wrap(clean(`Checked at ${time}, by ${configuration}`), width),
    ...[...groups].flatMap(([group, found]) => [
      '',
      paint('bold', group),
      ...found.flatMap((check) => checkLines(check, { width, column, paint })),
    ]),
    ...proposalLines(proposals, width, paint),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** Whether the report says that nothing of cni-gate is there. */
const isGone = ({ verdict, checks }: CheckReport): boolean =>
  verdict === 'not-installed' ||
  checks.some(({ id, result }) => id === 'not-installed-yet' && result === 'passed');

/** A report for people in a hurry, and for logs: the verdict, and the checks that did not pass. */
export function checkShort(report: CheckReport, { paint = plain }: Pick<TextOptions, 'paint'> = {}): string {
  const notable = report.checks.filter(({ result }) => result !== 'passed' && result !== 'skipped');
  return [
    headline(report, paint),
    clean(clusterText(report.cluster, isGone(report))),
    ...notable.map((check) => `${marked(check, paint)} ${clean(oneLine(check))}`),
  ]
    .map((line) => `${line}\n`)
    .join('');
}

const oneLine = ({ id, what, code, hint, link }: Check): string =>
  [`${id}: ${what}${code === null ? '' : ` (${code})`}`, ...(hint === '' ? [] : [hint]), link].join('. ');

const marked = ({ result }: Check, paint: Paint): string => paint(marks[result].style, marks[result].mark);

/** In one line, however long: scripts and people read the first one. */
const headline = ({ headline: text, verdict }: CheckReport, paint: Paint): string =>
  paint(verdict === 'passed' ? 'green' : 'red', clean(text));

interface Layout {
  width: number;
  /** Where the column of what was seen begins. */
  column: number;
  paint: Paint;
}

function checkLines(check: Check, { width, column, paint }: Layout): string[] {
  const { id, what, hint, link, result, code } = check;
  const text = code === null ? what : `${what} (${code})`;
  const [first = '', ...more] = wrap(clean(text), width - column, '');
  const head = `${marked(check, paint)} ${id.padEnd(column - 2)}${first}`;
  const isGood = result === 'passed' || result === 'skipped';
  return [
    head,
    ...more.map((line) => ' '.repeat(column) + line),
    ...(hint === '' ? [] : wrap(indent + clean(hint), width, indent)),
    ...(isGood ? [] : [indent + link]),
  ];
}

/** The command of each proposal in one piece, to be copied. */
function proposalLines(proposals: readonly Proposal[], width: number, paint: Paint): string[] {
  if (proposals.length === 0) return [];
  const lines = proposals.flatMap(({ namespace, profile, command, problem }) =>
    problem === ''
      ? [indent + command]
      : wrap(clean(`${indent}${namespace}: ${profile} is not possible: ${problem}`), width, indent),
  );
  return ['', paint('bold', 'profiles for namespaces, after the installation'), ...lines];
}
