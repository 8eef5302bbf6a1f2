import { clean } from '../../lib/clean.ts';
import { wrap } from '../../lib/wrap.ts';
import { checkPage, type Row } from '../judge/catalogue.ts';
import { few, type Result } from '../judge/row.ts';
import type { Report } from './report.ts';
import { ageText, layTable, type Paint, plain } from './table.ts';

/** Without `all`, at most this many rows of a check are shown, which fit on a screen or two. */
const mostRows = 50;

/** The mark of each result, and its colour; the worst result comes first. */
const marks: Record<Result, [mark: string, style: Parameters<Paint>[0]]> = {
  failed: ['✗', 'red'],
  'not-known': ['?', 'yellow'],
  warning: ['!', 'yellow'],
  passed: ['✓', 'green'],
};
const results = Object.keys(marks) as Result[];

const indent = '    ';

/** The maximum length of a line. */
const width = 100;

/**
 * A report for people. A row about the whole cluster is printed as a line, with its hint on the next line.
 * Rows about objects are printed as a table.
 *
 * @param all whether to show every row; otherwise rows with equal reasons are merged into one
 */
export function reportText(report: Report, all = false, paint: Paint = plain): string {
  const { time, cluster, configuration, headline, result, rows } = report;
  const { context, server, clientVersion, serverVersion } = cluster;
  const isYellow = rows.some((row) => row.result === 'warning');
  const style = result !== 'passed' ? 'red' : isYellow ? 'yellow' : 'green';
  const where = context === null ? 'service account of the pod' : `context ${context}`;
  const version = serverVersion ?? (result === 'not-installed' ? 'not installed' : 'not known');
  const checks = [...Map.groupBy(rows, ({ check }) => check).values()];
  const column = Math.max(0, ...rows.map(({ check }) => check.length));

  /** The lines for a check: its mark, its name and a text. */
  const entry = (worst: Result, check: string, what: string): string[] => {
    const [mark, colour] = marks[worst];
    return wrap(
      `${paint(colour, mark)} ${check.padEnd(column)}  ${clean(what)}`,
      width,
      ' '.repeat(column + 4),
    );
  };
  const checkLines = (same: readonly Row[]): string[] => {
    const single = same.filter(({ object }) => object === null);
    const worst = results.find((one) => same.some((row) => row.result === one)) ?? 'passed';
    const [link] = worst === 'passed' ? [] : same;
    return [
      ...single.flatMap((row) => [
        ...entry(row.result, row.check, row.code ? `${row.what} (${row.code})` : row.what),
        ...(row.hint === '' ? [] : wrap(indent + clean(row.hint), width, indent)),
      ]),
      ...tableLines(
        same.filter(({ object }) => object !== null),
        worst,
      ),
      ...(link ? [indent + checkPage(link.check)] : []),
    ];
  };
  const tableLines = (objects: readonly Row[], worst: Result): string[] => {
    const [first] = objects;
    if (first === undefined) return [];
    const count = objects.filter((row) => row.result === worst).length;
    const shown = all ? objects : merged(objects);
    const table = layTable(
      shown.slice(0, all ? undefined : mostRows).map((row) => fieldsOf(row, time)),
      width - indent.length,
    );
    const more =
      all || shown.length <= mostRows ? [] : [`and ${shown.length - mostRows} more: --all shows them`];
    return [
      ...entry(worst, first.check, `${count} ${worst}`),
      ...[...table, ...more].map((line) => indent + line),
    ];
  };
  const lines = [
    // not wrapped: scripts read the first line, which must be the whole headline
    paint(style, clean(headline)),
    ...wrap(
      clean(`Cluster: ${server} (${where}). cni-gate: client ${clientVersion}, server ${version}`),
      width,
    ),
    ...wrap(clean(`At ${time}, by ${configuration}`), width),
    '',
    ...checks.flatMap(checkLines),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

/** The columns of a row. */
function fieldsOf({ object, node, state, since, what, hint }: Row, now: string): Record<string, string> {
  return {
    OBJECT: object ?? '',
    NODE: node ?? '',
    STATE: state ?? '',
    AGE: since === null ? '' : ageText(Date.parse(now) - Date.parse(since)),
    WHAT: [what, hint].filter((text) => text !== '').join('. '),
  };
}

/** Merges rows that have the same result and reason into one, which shows their number and the greatest age. */
function merged(rows: readonly Row[]): Row[] {
  const groups = Map.groupBy(rows, ({ result, state, what, counts, object }) =>
    JSON.stringify([result, state, what, counts && object]),
  );
  return Array.from(groups.values(), (same) => {
    const [first] = same as [Row];
    const distinct = (texts: (string | null)[]): string[] => [
      ...new Set(texts.flatMap((text) => text ?? [])),
    ];
    return {
      ...first,
      object: few(distinct(same.map(({ object }) => object)), 1, ''),
      node: few(distinct(same.map(({ node }) => node)), 1, ''),
      // RFC 3339 in UTC sorts by time
      since: distinct(same.map(({ since }) => since)).toSorted()[0] ?? null,
    };
  });
}
