import { clean } from '../../lib/clean.ts';
import type { Report, Reviewed } from '../model.ts';
import { nameOf } from '../name.ts';
import type { Summary } from '../summary.ts';
import { cut, width, wrap } from './columns.ts';
import { styles } from './styles.ts';
import { findingLines, header, label, type TextOptions, totals } from './text.ts';

/** Columns of a line, left to right. */
interface Row {
  outcome: string;
  name: string;
  namespace: string;
  what: string;
}

const head: Row = { outcome: 'OUTCOME', name: 'KIND/NAME', namespace: 'NAMESPACE', what: 'CHECKS OR REASON' };

/** Below these a column is not cut, however long the others are. */
const narrowest = { name: 36, namespace: 15, what: 20 } as const;

const gap = '  ';

/**
 * A line for each workload: outcome, kind and name, namespace, and its checks or why it gets none; then the same
 * end as the text's. Names that would make a line longer than 100 columns are cut.
 */
export function tableOutput(report: Report, summary: Summary, options: TextOptions): string {
  const rows = report.reviewed.map(rowOf);
  const widths = widthsOf([head, ...rows]);
  const line = (row: Row): string =>
    (['outcome', 'name', 'namespace', 'what'] as const)
      .map((column) => cut(row[column], widths[column]).padEnd(widths[column]))
      .join(gap)
      .trimEnd();
  const { paint } = options;
  const painted = rows.map((row, at) => {
    const outcome = report.reviewed[at]?.verdict.outcome ?? 'skipped';
    return line(row).replace(row.outcome, (word) => paint(styles[outcome], word));
  });
  const table = rows.length === 0 ? [] : [paint('dim', line(head)), ...painted, ''];
  const lines = [...table, ...messages(report, options), ...totals(summary, options)];
  return lines.map((text) => `${text}\n`).join('');
}

/** What has to be done: the texts of refusals, of warnings, and what was found. */
function messages(report: Report, options: TextOptions): string[] {
  const refused = report.reviewed.filter(({ verdict }) => verdict.outcome === 'refused');
  return [
    ...refused.flatMap((one) => header(one, options.paint)),
    ...report.reviewed.flatMap(({ workload, verdict }) =>
      verdict.warnings.flatMap((warning) => {
        const place = `${workload.document.file}:${workload.line}`;
        return wrap(`${label(options)} ${clean(`${nameOf(workload)} (${place}): ${warning}`)}`, 2);
      }),
    ),
    ...findingLines(report.findings, options),
  ];
}

function rowOf({ workload, verdict }: Reviewed): Row {
  const { kind, name, part, namespace, unknownKind } = workload;
  const { checks, reason, outcome } = verdict;
  const what = outcome !== 'removed' && checks.length > 0 ? checks.join(', ') : reason;
  return {
    outcome,
    name: clean([`${kind}/${name}`, part ?? [], unknownKind ? '(unknown kind)' : []].flat().join(' ')),
    namespace: clean(namespace),
    what: clean(what),
  };
}

/** As wide as the longest text; where all together are too wide, first names are cut and then namespaces. */
function widthsOf(rows: readonly Row[]): Record<keyof Row, number> {
  const longest = (column: keyof Row): number =>
    rows.reduce((max, row) => Math.max(max, row[column].length), 0);
  const widths = {
    outcome: longest('outcome'),
    name: longest('name'),
    namespace: longest('namespace'),
    what: longest('what'),
  };
  for (const column of ['name', 'namespace', 'what'] as const) {
    const total = Object.values(widths).reduce((a, b) => a + b, 0) + 3 * gap.length;
    const spare = Math.max(0, widths[column] - narrowest[column]);
    widths[column] -= Math.min(spare, Math.max(0, total - width));
  }
  return widths;
}
