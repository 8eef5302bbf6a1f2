import { clean } from '../../lib/clean.ts';
import { wrap } from '../../lib/wrap.ts';
import { few } from '../judge/check-result.ts';
import { countsOf, type Status, warningsOf } from './status.ts';
import { clusterText, layTable, plain, type TextOptions } from './table.ts';
import { grouped, type Table, tablesOf } from './tables.ts';

/** Rows of a table that are shown where not all are asked for: what fits on a screen or two. */
const mostRows = 50;

/**
 * A status for people. Rows with equal reasons are one, unless all are asked for or rows are as wide as they are.
 *
 * @param all every row, however many there are
 */
export function statusText(
  status: Status,
  all: boolean,
  { width = Number.POSITIVE_INFINITY, paint = plain }: TextOptions = {},
): string {
  const { result, headline, cluster, probe, faults } = status;
  const isGone = result === 'not-installed';
  const group = all || width === Number.POSITIVE_INFINITY ? undefined : grouped;
  const shown = tablesOf(status, all, group).filter(({ id }) => !isGone || id === 'faults');
  const max = all || isGone ? Number.POSITIVE_INFINITY : mostRows;
  const counts = countsOf(status);
  // without a fault the first line has them all
  const isMore = result === 'not-well' && faults.length > 0 && counts.length + faults.length > 2;
  const sentences = [
    ...(isMore ? [`In all: ${counts.join(', ')}.`] : []),
    ...(probe ? [`Probe${probe.namespace ? ` in namespace ${probe.namespace}` : ''}: ${probe.what}`] : []),
    clusterText(cluster, isGone),
    ...(isGone ? [] : [`Status at ${status.time}, by ${status.configuration}`, whoOptedIn(status, all)]),
  ];
  const lines = [
    // in one line, however long: scripts and people read the first one
    paint(result !== 'well' ? 'red' : warningsOf(status).length > 0 ? 'yellow' : 'green', clean(headline)),
    ...sentences.flatMap((text) => wrap(clean(text), width)),
    ...shown.flatMap((table) => linesOf(table, max, width)),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function linesOf({ head, rows, sentences }: Table, max: number, width: number): string[] {
  if (rows.length === 0) return [];
  const shown = rows.slice(0, max).map((row) => row.map((cell) => cell && clean(cell)));
  const more = rows.length - shown.length;
  return [
    '',
    ...layTable(head, shown, width, sentences),
    ...(more > 0 ? [`and ${more} more: --all shows them`] : []),
  ];
}

function whoOptedIn({ namespace, namespaces }: Status, all: boolean): string {
  const names = namespaces.map(({ name, profile }) => `${name} (${profile})`);
  if (names.length === 0)
    return namespace === null ? 'No namespace has opted in.' : `Namespace ${namespace} has not opted in.`;
  return `Opted in: ${few(names, all ? names.length : 10)}`;
}
