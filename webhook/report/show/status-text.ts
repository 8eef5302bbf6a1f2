import { states } from '../../core/networks/daemon-set-status.ts';
import { clean } from '../../lib/clean.ts';
import { wrap } from '../../lib/wrap.ts';
import { few } from '../judge/check-result.ts';
import { proofStates } from '../observe/pods.ts';
import { countsOf, type Status, warningsOf } from './status.ts';
import { ageText, type Cell, clusterText, layTable, plain, type Table, type TextOptions } from './table.ts';

/** Without `all`, a table shows at most this many rows, which fit on a screen or two. */
const mostRows = 50;

/**
 * A status as text for people. Rows with equal reasons are merged into one, unless `all` is set or `width` is infinite.
 *
 * @param all whether to show every row, however many there are
 */
export function statusText(
  status: Status,
  all: boolean,
  { width = Number.POSITIVE_INFINITY, paint = plain }: TextOptions = {},
): string {
  const { result, headline, cluster, probe, faults } = status;
  const isGone = result === 'not-installed';
  const group = all || width === Number.POSITIVE_INFINITY ? (objects: readonly object[]) => objects : grouped;
  const max = all || isGone ? Number.POSITIVE_INFINITY : mostRows;
  const counts = countsOf(status);
  // a headline with a fault shows only the first one, so the counts follow in a separate sentence
  const isMore = result === 'not-well' && faults.length > 0 && counts.length + faults.length > 2;
  const sentences = [
    ...(isMore ? [`In all: ${counts.join(', ')}.`] : []),
    ...(probe ? [`Probe${probe.namespace ? ` in namespace ${probe.namespace}` : ''}: ${probe.what}`] : []),
    clusterText(cluster, isGone),
    ...(isGone ? [] : [`Status at ${status.time}, by ${status.configuration}`, whoOptedIn(status, all)]),
  ];
  const lines = [
    // not wrapped, because the headline must be the whole first line, for scripts too
    paint(result !== 'well' ? 'red' : warningsOf(status).length > 0 ? 'yellow' : 'green', clean(headline)),
    ...sentences.flatMap((text) => wrap(clean(text), width)),
    ...tablesOf(status, all, group)
      .filter(({ rows }) => rows.length > 0)
      .flatMap(({ rows, ...table }) => [
        '',
        ...layTable({ ...table, rows: rows.slice(0, max) }, width),
        ...(rows.length > max ? [`and ${rows.length - max} more: --all shows them`] : []),
      ]),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function whoOptedIn({ namespace, namespaces }: Status, all: boolean): string {
  const names = namespaces.map(({ name, profile }) => `${name} (${profile})`);
  if (names.length === 0)
    return namespace === null ? 'No namespace has opted in.' : `Namespace ${namespace} has not opted in.`;
  return `Opted in: ${few(names, all ? names.length : 10)}`;
}

/** The fields of each list of a status that are shown as columns. */
const columns = {
  features: ['feature', 'mode', 'inForce', 'why'],
  installation: ['id', 'result', 'what'],
  nodes: ['node', 'daemonSet', 'state', 'since', 'pod', 'why'],
  heldPods: ['name', 'refused', 'since', 'nominated', 'why', 'notNominated'],
  failedPods: ['name', 'node', 'verdict', 'since', 'why', 'repair'],
  waitingPods: ['name', 'node', 'since', 'why'],
  podsWithoutProof: ['name', 'node', 'why'],
  duplicateAddresses: ['address', 'network', 'pods', 'nodes'],
} satisfies { [List in keyof Status]?: string[] };

/** Column heads that differ from the field's name. The head of the column `name` depends on the list. */
const heads: Record<string, string> = {
  id: 'check',
  address: 'duplicate address',
  heldPods: 'held pod',
  failedPods: 'failed proof',
  waitingPods: 'waiting pod',
  podsWithoutProof: 'pod without proof',
  inForce: 'in force',
  refused: 'refused node',
  notNominated: 'not nominated',
  since: 'age',
};

/**
 * The tables of a status: faults and pods with a problem come first.
 *
 * @param all whether to include checks that passed
 * @param group merges objects with equal reasons
 */
function tablesOf(
  status: Status,
  all: boolean,
  group: (objects: readonly object[]) => readonly object[],
): Table[] {
  const { result, daemonSets, namespaces, pods } = status;
  const table = (id: keyof typeof columns, objects: readonly object[]): Table => ({
    head: columns[id].map((field) => (heads[field === 'name' ? id : field] ?? field).toUpperCase()),
    rows: objects.map((object) => columns[id].map((field) => cellOf({ ...object }, field, status.time))),
  });
  const shown = states.filter(
    (state) => state === 'ready' || daemonSets.some(({ nodes }) => nodes[state] > 0),
  );
  const proofs = (name: string, counts: Status['pods']): Cell[] => [
    name,
    ...proofStates.map((state) => String(counts[state])),
  ];
  const withPods = namespaces
    .filter((namespace) => Object.values(namespace.pods).some((count) => count > 0))
    .map((namespace) => proofs(namespace.name, namespace.pods));
  // if cni-gate is not installed, the headline shows the first fault already
  const faults = status.faults.slice(result === 'not-installed' ? 1 : 0);
  const faultTable: Table = {
    head: ['FAULT'],
    rows: faults.map(({ code, message }) => [`${message} (${code})`]),
  };
  if (result === 'not-installed') return [faultTable];
  const checks = status.installation
    .filter((check) => all || check.result !== 'passed')
    // for failed checks, the table of faults shows the hint already
    .map((check) =>
      check.result === 'warning' ? { ...check, what: `${check.what}. ${check.hint}` } : check,
    );
  return [
    faultTable,
    table('heldPods', group(status.heldPods)),
    table('failedPods', group(status.failedPods)),
    table('waitingPods', group(status.waitingPods)),
    table('podsWithoutProof', group(status.podsWithoutProof)),
    table('duplicateAddresses', status.duplicateAddresses),
    table('features', status.features),
    table('installation', checks),
    {
      head: ['DAEMONSET', 'PROFILES', 'IN USE', ...shown.map((state) => state.toUpperCase())],
      rows: daemonSets.map(({ namespace, name, profiles, inUse, exists, nodes }) => [
        `${namespace}/${name}`,
        profiles.join(','),
        inUse ? 'yes' : 'no',
        ...shown.map((state) => (exists ? String(nodes[state]) : null)),
      ]),
    },
    table('nodes', group(status.nodes)),
    {
      head: ['NAMESPACE', 'PASSED', 'FAILED', 'WAITING', 'OPTED OUT', 'WITHOUT PROOF', 'SKIPPED'],
      // the totals come first, so that they are shown even if the last rows are cut off
      rows: withPods.length > 1 ? [proofs('all', pods), ...withPods] : withPods,
    },
  ];
}

/** Formats a field as kubectl does: a name with its namespace, and a time as an age. */
function cellOf(object: Fields, field: string, now: string): Cell {
  const value = object[field];
  if (field === 'name') return `${object.namespace}/${value}`;
  if (field === 'inForce') return value === null ? 'not known' : value ? 'yes' : 'no';
  if (value === null || value === undefined) return null;
  if (Array.isArray(value)) return [...new Set(value)].join(', ');
  return field === 'since' ? ageText(Date.parse(now) - Date.parse(String(value))) : String(value);
}

type Fields = Record<string, unknown>;

/** Fields that may differ between objects that {@link grouped} merges. */
const ofOne: ReadonlySet<string> = new Set(['namespace', 'name', 'since', 'node', 'pod', 'nominated']);

/** Merges objects that have the same reason into one, which shows their number and the greatest age. */
const grouped = (objects: readonly object[]): object[] =>
  [...Map.groupBy(objects as Fields[], reasonOf).values()].map(merged);

/** A key for the reason of an object: all fields except `ofOne`, with the object's own names removed from the texts. */
function reasonOf(object: Fields): string {
  const names = [object.name, object.node].filter((name) => typeof name === 'string');
  return JSON.stringify(object, (field, value) => {
    if (ofOne.has(field)) return undefined;
    return typeof value === 'string' ? names.reduce((text, name) => text.replaceAll(name, ''), value) : value;
  });
}

function merged(same: Fields[]): Fields {
  const result: Fields = { ...same[0] };
  for (const field of ofOne) {
    if (!(field in result) || field === 'namespace' || same.length === 1) continue;
    const texts = [...new Set(same.flatMap((object) => (object[field] ? String(object[field]) : [])))];
    // RFC 3339 in UTC sorts by time; `name` shows a count, because pods of two namespaces may have the same name
    if (field === 'since') result.since = texts.toSorted()[0] ?? null;
    else if (field === 'name') result.name = `${result.name} and ${same.length - 1} more`;
    else result[field] = few(texts, 1) || null;
  }
  return result;
}
