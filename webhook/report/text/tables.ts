import { states } from '../../core/networks/daemon-set-status.ts';
import { nameOf } from '../../lib/names.ts';
import { proofStates } from '../facts/proof.ts';
import type { Status } from '../status/status.ts';
import { ageText, type Cell } from './table.ts';

/** A table of a status, in a text and on the dashboard; it is left out without rows. */
export interface Table {
  /** The field of the status that it shows. */
  id: string;
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
    rows: objects.map((one) =>
      Object.keys(columns[id]).map((field) => cellOf({ ...one }, field, status.time)),
    ),
    sentences,
  });
  const shown = states.filter(
    (state) => state === 'ready' || daemonSets.some(({ nodes: counts }) => counts[state] > 0),
  );
  const proofs = (name: string, of: Status['pods']): Cell[] => [
    name,
    ...proofStates.map((state) => String(of[state])),
  ];
  const withPods = namespaces
    .filter(({ pods: of }) => Object.values(of).some((count) => count > 0))
    .map(({ name, pods: of }) => proofs(name, of));
  // without an installation the first line has the first one
  const faults = status.faults.slice(result === 'not-installed' ? 1 : 0);
  const duplicates = status.duplicateAddresses.map(({ network, pods: [older, younger], nodes, ...one }) => ({
    ...one,
    network: network ?? 'pods',
    older,
    younger,
    nodes: [...new Set(nodes)].join(', '),
  }));
  const failing = status.installation
    .filter(({ result }) => all || result !== 'passed')
    // the hint of a check that failed is in its fault
    .map((check) =>
      check.result === 'warning' ? { ...check, what: `${check.what}. ${check.hint}` } : check,
    );
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
    table('installation', failing),
    {
      id: 'daemonSets',
      head: ['DAEMONSET', 'PROFILES', 'IN USE', ...shown.map((state) => state.toUpperCase())],
      rows: daemonSets.map(({ namespace, name, profiles, inUse, exists, nodes: of }) => [
        nameOf({ namespace, name }),
        profiles.join(','),
        inUse ? 'yes' : 'no',
        ...shown.map((state) => (exists ? String(of[state]) : null)),
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
