import { clean } from '../../lib/clean.ts';
import { wrap } from '../../lib/wrap.ts';
import { nameOf, type Report, type Reviewed } from '../model.ts';
import type { Summary } from '../summary.ts';
import { findingLines, header, label, styles, type TextOptions, totals } from './text.ts';

/** The cells of a line, from left to right: outcome, name, namespace, checks or reason, and `file:line`. */
type Row = readonly string[];

const head: Row = ['OUTCOME', 'KIND/NAME', 'NAMESPACE', 'CHECKS OR REASON', 'FILE'];

/**
 * The summary: a line for each workload with outcome, kind and name, namespace, its checks or why it gets none, and its
 * file; then the end of the text output.
 */
export function tableOutput(report: Report, summary: Summary, options: TextOptions): string {
  const { paint } = options;
  const rows = [head, ...report.reviewed.map(rowOf)];
  const widths = head.map((_, column) =>
    rows.reduce((longest, row) => Math.max(longest, row[column]?.length ?? 0), 0),
  );
  const lines = rows.map((row, index) => {
    const line = row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd();
    const outcome = report.reviewed[index - 1]?.verdict.outcome;
    return outcome === undefined
      ? paint('dim', line)
      : line.replace(outcome, (word) => paint(styles[outcome], word));
  });
  const table = report.reviewed.length === 0 ? [] : [...lines, ''];
  return [...table, ...messages(report, options), ...totals(summary, options)]
    .map((line) => `${line}\n`)
    .join('');
}

/** The texts of refusals, warnings and findings. */
function messages({ reviewed, findings }: Report, options: TextOptions): string[] {
  const texts = [
    ...reviewed
      .filter(({ verdict }) => verdict.outcome === 'refused')
      .map((one) => header(one, options.paint)),
    ...reviewed.flatMap(({ workload, verdict }) =>
      verdict.warnings.map((warning) => {
        const place = `${workload.document.file}:${workload.line}`;
        return `${label(options)} ${clean(`${nameOf(workload)} (${place}): ${warning}`)}`;
      }),
    ),
  ];
  return [...texts.flatMap((text) => wrap(text, options.width)), ...findingLines(findings, options)];
}

function rowOf({ workload, verdict }: Reviewed): Row {
  const { kind, name, part, namespace, unknownKind, document, line } = workload;
  const { checks, reason, outcome } = verdict;
  const what = outcome !== 'removed' && checks.length > 0 ? checks.join(', ') : reason;
  const names = [`${kind}/${name}`, part ?? [], unknownKind ? '(unknown kind)' : []].flat().join(' ');
  return [outcome, names, namespace, what, `${document.file}:${line}`].map((cell) => clean(cell));
}
