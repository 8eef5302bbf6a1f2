import { clean } from '../clean.ts';
import { states } from '../readiness/state.ts';
import { countsOf } from './headline.ts';
import type { DaemonSetStatus, Status } from './model.ts';

/** Rows of a table that are shown where not all are asked for: what fits on a screen or two. */
const mostRows = 50;

/**
 * A status for people.
 *
 * @param all every row, however many there are
 */
export function statusText(status: Status, all: boolean): string {
  const { time, configuration, verbs, installation, daemonSets, nodes, heldPods, unprovedPods, faults } =
    status;
  const most = all ? Number.POSITIVE_INFINITY : mostRows;
  const lines = [
    ...verdict(status),
    `Status at ${time}, by ${configuration}`,
    whoOptedIn(status, all),
    ...table(
      ['VERB', 'MODE', 'IN FORCE', 'WHY'],
      verbs.map(({ verb, mode, inForce, why }) => [verb, mode, yesOrNo(inForce), why]),
      most,
    ),
    ...table(
      ['INSTALLATION', 'IN ORDER', 'WHAT'],
      installation
        .filter(({ inOrder }) => all || inOrder !== true)
        .map(({ object, inOrder, what }) => [object, yesOrNo(inOrder), what]),
      most,
    ),
    ...table(
      ['DAEMONSET', 'PROFILES', 'IN USE', ...states.map((state) => state.toUpperCase())],
      daemonSets.map(daemonSetRow),
      most,
    ),
    ...table(
      ['NODE', 'DAEMONSET', 'STATE', 'SINCE', 'POD', 'WHY'],
      nodes.map(({ node, daemonSet, state, since, pod, why }) => [node, daemonSet, state, since, pod, why]),
      most,
    ),
    ...table(
      ['HELD POD', 'REFUSED NODE', 'SINCE', 'SENT TO', 'WHY'],
      heldPods.map(({ namespace, name, refused, since, nominated, why }) => [
        `${namespace}/${name}`,
        refused,
        since,
        nominated,
        why,
      ]),
      most,
    ),
    ...table(
      ['POD WITHOUT PROOF', 'NODE', 'WHY'],
      unprovedPods.map(({ namespace, name, node, why }) => [`${namespace}/${name}`, node, why]),
      most,
    ),
    ...table(
      ['FAULT'],
      faults.map(({ code, message }) => [`${message} (${code})`]),
      most,
    ),
  ];
  return lines.map((line) => `${clean(line)}\n`).join('');
}

const yesOrNo = (value: boolean | null): string => (value === null ? 'not known' : value ? 'yes' : 'no');

function whoOptedIn({ namespace, namespaces }: Status, all: boolean): string {
  const names = namespaces.map(({ name, profile }) => `${name} (${profile})`);
  if (names.length > 0) return `Opted in: ${few(names, all)}`;
  return namespace === null ? 'No namespace has opted in.' : `Namespace ${namespace} has not opted in.`;
}

function daemonSetRow({ namespace, name, profiles, inUse, exists, nodes }: DaemonSetStatus): Cell[] {
  const counts = states.map((state) => (exists ? String(nodes[state]) : null));
  return [`${namespace}/${name}`, profiles.join(','), yesOrNo(inUse), ...counts];
}

/** What it comes to; of `--probe` what came of it; how much is wrong, where that is more than one thing. */
function verdict(status: Status): string[] {
  const { headline, verdict: is, probe } = status;
  const counts = countsOf(status);
  const more = is === 'not-well' && (counts.length > 1 || status.faults.length > 1);
  return [
    headline,
    ...(more ? [`In all: ${counts.join(', ')}.`] : []),
    ...(probe === null
      ? []
      : [`Probe${probe.namespace ? ` in namespace ${probe.namespace}` : ''}: ${probe.what}`]),
  ];
}

type Cell = string | null;

/** A table after an empty line, as wide as it has to be; nothing where it has no rows. */
function table(head: string[], rows: Cell[][], most: number): string[] {
  if (rows.length === 0) return [];
  const shown = [head, ...rows.slice(0, most).map((row) => row.map((cell) => cell || '-'))];
  const widths = head.map((_, at) =>
    shown.reduce((widest, row) => Math.max(widest, row[at]?.length ?? 0), 0),
  );
  const lines = shown.map((row) =>
    row
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  const more = rows.length - (shown.length - 1);
  return ['', ...lines, ...(more > 0 ? [`and ${more} more: --all shows them`] : [])];
}

/** A list that stays on a line or two. */
function few(names: string[], all: boolean): string {
  const most = all ? names.length : 10;
  const more = names.length - most;
  return names.slice(0, most).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
