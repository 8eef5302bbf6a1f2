import { clean } from '../../lib/clean.ts';
import { type Report, type Reviewed, refusalsOf } from '../model.ts';
import { nameOf } from '../name.ts';
import type { Summary } from '../summary.ts';
import { cut, width, wrap } from './columns.ts';
import { twice } from './notes.ts';
import { styles } from './styles.ts';
import { findingLines, header, label, type TextOptions, totals } from './text.ts';

/** The columns of a line, from left to right. */
interface Row {
  outcome: string;
  name: string;
  namespace: string;
  what: string;
  /** `file:line`, which is never cut: terminals and editors open it. */
  place: string;
}

const head: Row = {
  outcome: 'OUTCOME',
  name: 'KIND/NAME',
  namespace: 'NAMESPACE',
  what: 'CHECKS OR REASON',
  place: 'FILE',
};

/** The columns of which texts are cut. */
const columns = ['outcome', 'name', 'namespace', 'what'] as const;

/** The least width of a column that is cut. */
const narrowest = { name: 36, namespace: 15, what: 20 } as const;

const gap = '  ';

/**
 * The summary: a line for each workload with outcome, kind and name, namespace, and its checks or why it gets none;
 * its file; then the end of the text output. Names are cut to keep the columns before the file within 100 columns.
 */
export function tableOutput(report: Report, summary: Summary, options: TextOptions): string {
  const rows = report.reviewed.map(rowOf);
  const widths = widthsOf([head, ...rows]);
  const line = (row: Row): string =>
    [...columns.map((column) => cut(row[column], widths[column]).padEnd(widths[column])), row.place].join(
      gap,
    );
  const { paint } = options;
  const painted = rows.map((row, at) => {
    const outcome = report.reviewed[at]?.verdict.outcome ?? 'skipped';
    return line(row).replace(row.outcome, (word) => paint(styles[outcome], word));
  });
  const table = rows.length === 0 ? [] : [paint('dim', line(head)), ...painted, ''];
  const lines = [...table, ...messages(report, options), ...totals(report, summary, options)];
  return lines.map((text) => `${text}\n`).join('');
}

/** The texts of refusals, warnings and findings. */
function messages(report: Report, options: TextOptions): string[] {
  const refusals = refusalsOf(report);
  const refused = report.reviewed.filter(
    ({ workload, verdict }) => verdict.outcome === 'refused' && !refusals.has(workload),
  );
  return [
    ...refused.flatMap((one) => header(one, options.paint)),
    ...report.reviewed.flatMap(({ workload }) => {
      if (workload.alsoIn === undefined) return [];
      const place = `${workload.document.file}:${workload.line}`;
      return wrap(clean(`note ${nameOf(workload)} (${place}): ${twice(workload.alsoIn)}`), 2);
    }),
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
    place: clean(`${workload.document.file}:${workload.line}`),
  };
}

/** As wide as the longest text; if a line is too wide, names are cut first, then namespaces. */
function widthsOf(rows: readonly Row[]): Record<(typeof columns)[number], number> {
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
