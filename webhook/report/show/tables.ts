import { states } from '../../core/networks/daemon-set-status.ts';
import { few } from '../judge/check-result.ts';
import { proofStates } from '../observe/pods.ts';
import type { Status } from './status.ts';
import { ageText, type Cell } from './table.ts';

/** A table of a status, in a text and on the dashboard; it is left out without rows. */
export interface Table {
  /** The field of the status that it shows. */
  id: string;
  /** Its name, where that is not the head of its first column. */
  title?: string;
  head: string[];
  rows: Cell[][];
  /** How many of the last columns hold sentences. */
  sentences: number;
}

/** The fields that are shown of each list, with the heads of their columns. */
const columns = {
  features: { feature: 'FEATURE', mode: 'MODE', inForce: 'IN FORCE', why: 'WHY' },
  installation: { id: 'CHECK', result: 'RESULT', what: 'WHAT' },
  nodes: { node: 'NODE', daemonSet: 'DAEMONSET', state: 'STATE', since: 'AGE', pod: 'POD', why: 'WHY' },
  heldPods: {
    name: 'HELD POD',
    refused: 'REFUSED NODE',
    since: 'AGE',
    nominated: 'NOMINATED',
    why: 'WHY',
    notNominated: 'NOT NOMINATED',
  },
  failedPods: {
    name: 'FAILED PROOF',
    node: 'NODE',
    verdict: 'VERDICT',
    since: 'AGE',
    why: 'WHY',
    repair: 'REPAIR',
  },
  waitingPods: { name: 'WAITING POD', node: 'NODE', since: 'AGE', why: 'WHY' },
  podsWithoutProof: { name: 'POD WITHOUT PROOF', node: 'NODE', why: 'WHY' },
  duplicateAddresses: {
    address: 'DUPLICATE ADDRESS',
    network: 'NETWORK',
    older: 'OLDER POD',
    younger: 'YOUNGER POD',
    nodes: 'NODES',
  },
} satisfies { [List in keyof Status]?: Record<string, string> };

/**
 * The tables of a status: first what is wrong and pods with a problem.
 *
 * @param all checks that passed as well
 * @param group puts objects with equal reasons together
 */
export function tablesOf(
  status: Status,
  all: boolean,
  group = (objects: readonly object[]): readonly object[] => objects,
): Table[] {
  const { result, daemonSets, namespaces, pods } = status;
  const table = (id: keyof typeof columns, objects: readonly object[], sentences = 1): Table => ({
    id,
    head: Object.values(columns[id]),
    rows: objects.map((object) =>
      Object.keys(columns[id]).map((field) => cellOf({ ...object }, field, status.time)),
    ),
    sentences,
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
  // without an installation the first line has the first one
  const faults = status.faults.slice(result === 'not-installed' ? 1 : 0);
  const duplicates = status.duplicateAddresses.map(({ network, pods: [older, younger], nodes, ...rest }) => ({
    ...rest,
    network: network ?? 'pods',
    older,
    younger,
    nodes: [...new Set(nodes)].join(', '),
  }));
  const checks = status.installation
    .filter((check) => all || check.result !== 'passed')
    // the hint of a check that failed is in its fault
    .map(({ what, hint, ...check }) => ({
      ...check,
      what: check.result === 'warning' ? `${what}. ${hint}` : what,
    }));
  return [
    {
      id: 'faults',
      head: ['FAULT'],
      rows: faults.map(({ code, message }) => [`${message} (${code})`]),
      sentences: 1,
    },
    table('heldPods', group(status.heldPods), 2),
    table('failedPods', group(status.failedPods), 2),
    table('waitingPods', group(status.waitingPods)),
    table('podsWithoutProof', group(status.podsWithoutProof)),
    table('duplicateAddresses', duplicates, 0),
    table('features', status.features),
    table('installation', checks),
    {
      id: 'daemonSets',
      head: ['DAEMONSET', 'PROFILES', 'IN USE', ...shown.map((state) => state.toUpperCase())],
      rows: daemonSets.map(({ namespace, name, profiles, inUse, exists, nodes }) => [
        `${namespace}/${name}`,
        profiles.join(','),
        inUse ? 'yes' : 'no',
        ...shown.map((state) => (exists ? String(nodes[state]) : null)),
      ]),
      sentences: 0,
    },
    table('nodes', group(status.nodes)),
    {
      id: 'namespaces',
      head: ['NAMESPACE', 'PASSED', 'FAILED', 'WAITING', 'OPTED OUT', 'WITHOUT PROOF', 'SKIPPED'],
      // the sum comes first: it stays where rows are left out
      rows: withPods.length > 1 ? [proofs('all', pods), ...withPods] : withPods,
      sentences: 0,
    },
  ];
}

/** A field of an object of the API with its namespace, and times as ages: as kubectl writes them. */
function cellOf(object: { namespace?: string; [field: string]: unknown }, field: string, now: string): Cell {
  const value = object[field];
  if (field === 'name') return `${object.namespace}/${value}`;
  if (field === 'inForce') return value === null ? 'not known' : value ? 'yes' : 'no';
  if (value === null || value === undefined) return null;
  return field === 'since' ? ageText(Date.parse(now) - Date.parse(String(value))) : String(value);
}

type Fields = Record<string, unknown>;

/** Fields that tell apart objects with one reason, and those of them whose values are counted. */
const counted = ['node', 'pod', 'nominated'];
const ofOne: ReadonlySet<string> = new Set(['namespace', 'name', 'since', ...counted]);

/** Objects of one list of a status, those with equal reasons as one: how many there are, and the greatest age. */
export const grouped = (objects: readonly object[]): object[] =>
  [...Map.groupBy(objects as Fields[], reasonOf).values()].map(merged);

/** The reason without the names of the object, which the leader's events have in them. */
function reasonOf(object: Fields): string {
  const names = [object.name, object.node].filter((name) => typeof name === 'string');
  return JSON.stringify(object, (field, value) => {
    if (ofOne.has(field)) return undefined;
    return typeof value === 'string' ? names.reduce((text, name) => text.replaceAll(name, ''), value) : value;
  });
}

function merged(same: Fields[]): Fields {
  const [first = {}] = same;
  if (same.length === 1) return first;
  const texts = (field: string): string[] => [
    ...new Set(same.map((object) => object[field]).filter((value) => typeof value === 'string')),
  ];
  const others = counted.filter((field) => field in first);
  return {
    ...first,
    ...Object.fromEntries(others.map((field) => [field, few(texts(field), 1) || null])),
    ...('name' in first && { name: `${first.name} and ${same.length - 1} more` }),
    // RFC 3339 in UTC sorts by time
    ...('since' in first && { since: texts('since').toSorted()[0] ?? null }),
  };
}
