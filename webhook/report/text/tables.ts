import { states } from '../../nodes/readiness/state.ts';
import { proofStates } from '../facts/proof.ts';
import type { Status } from '../status/status.ts';
import { ageText, type Cell } from './table.ts';

/** A table of a status, in a text and on the dashboard; it is left out without rows. */
export interface Table {
  /** The field of the status that it shows. */
  id: string;
  title: string;
  head: string[];
  rows: Cell[][];
  /** How many of the last columns hold sentences. */
  sentences: number;
}

/**
 * The tables of a status, in the order of a text.
 *
 * @param all checks that passed as well
 */
export function tablesOf(status: Status, all: boolean): Table[] {
  const { verdict, features, installation } = status;
  // without an installation the first line has the first one
  const faults = status.faults.slice(verdict === 'not-installed' ? 1 : 0);
  return [
    {
      id: 'features',
      title: 'Features',
      head: ['FEATURE', 'MODE', 'IN FORCE', 'WHY'],
      rows: features.map(({ feature, mode, inForce, why }) => [feature, mode, yesOrNo(inForce), why]),
      sentences: 1,
    },
    {
      id: 'installation',
      title: 'Installation',
      head: ['CHECK', 'RESULT', 'WHAT'],
      rows: installation
        .filter(({ result }) => all || result !== 'passed')
        .map(({ id, result, what }) => [id, result, what]),
      sentences: 1,
    },
    ...nodeTables(status),
    ...podTables(status),
    {
      id: 'faults',
      title: 'Faults',
      head: ['FAULT'],
      rows: faults.map(({ code, message }) => [`${message} (${code})`]),
      sentences: 1,
    },
  ];
}

function nodeTables({ time, daemonSets, nodes, namespaces, pods }: Status): Table[] {
  const shown = states.filter(
    (state) => state === 'ready' || daemonSets.some(({ nodes: counts }) => counts[state] > 0),
  );
  const counts = (name: string, of: Status['pods']): Cell[] => [
    name,
    ...proofStates.map((state) => String(of[state])),
  ];
  const rows = namespaces
    .filter(({ pods: of }) => Object.values(of).some((count) => count > 0))
    .map(({ name, pods: of }) => counts(name, of));
  return [
    {
      id: 'daemonSets',
      title: 'DaemonSets',
      head: ['DAEMONSET', 'PROFILES', 'IN USE', ...shown.map((state) => state.toUpperCase())],
      rows: daemonSets.map(({ namespace, name, profiles, inUse, exists, nodes: of }) => [
        `${namespace}/${name}`,
        profiles.join(','),
        yesOrNo(inUse),
        ...shown.map((state) => (exists ? String(of[state]) : null)),
      ]),
      sentences: 0,
    },
    {
      id: 'nodes',
      title: 'Nodes',
      head: ['NODE', 'DAEMONSET', 'STATE', 'AGE', 'POD', 'WHY'],
      rows: nodes.map((one) => [one.node, one.daemonSet, one.state, age(one.since, time), one.pod, one.why]),
      sentences: 1,
    },
    {
      id: 'namespaces',
      title: 'Namespaces',
      head: ['NAMESPACE', 'PASSED', 'FAILED', 'WAITING', 'OPTED OUT', 'UNPROVED', 'LEFT ALONE'],
      // the sum comes first: it stays where rows are left out
      rows: rows.length > 1 ? [counts('all', pods), ...rows] : rows,
      sentences: 0,
    },
  ];
}

function podTables({
  time,
  heldPods,
  failedPods,
  waitingPods,
  unprovedPods,
  duplicateAddresses,
}: Status): Table[] {
  return [
    {
      id: 'heldPods',
      title: 'Held pods',
      head: ['HELD POD', 'REFUSED NODE', 'AGE', 'NOMINATED', 'WHY', 'NOT NOMINATED'],
      rows: heldPods.map((pod) => [
        nameOf(pod),
        pod.refused,
        age(pod.since, time),
        pod.nominated,
        pod.why,
        pod.notNominated,
      ]),
      sentences: 2,
    },
    {
      id: 'failedPods',
      title: 'Failed proofs',
      head: ['FAILED PROOF', 'NODE', 'VERDICT', 'AGE', 'WHY', 'REPAIR'],
      rows: failedPods.map((pod) => [
        nameOf(pod),
        pod.node,
        pod.verdict,
        age(pod.since, time),
        pod.why,
        pod.repair,
      ]),
      sentences: 2,
    },
    {
      id: 'waitingPods',
      title: 'Pods that wait on their node',
      head: ['WAITING POD', 'NODE', 'AGE', 'WHY'],
      rows: waitingPods.map((pod) => [nameOf(pod), pod.node, age(pod.since, time), pod.why]),
      sentences: 1,
    },
    {
      id: 'unprovedPods',
      title: 'Pods without a proof',
      head: ['POD WITHOUT PROOF', 'NODE', 'WHY'],
      rows: unprovedPods.map((pod) => [nameOf(pod), pod.node, pod.why]),
      sentences: 1,
    },
    {
      id: 'duplicateAddresses',
      title: 'Duplicate addresses',
      head: ['DUPLICATE ADDRESS', 'NETWORK', 'OLDER POD', 'YOUNGER POD', 'NODES'],
      rows: duplicateAddresses.map(({ network, address, pods, nodes }) => [
        address,
        network ?? 'pods',
        ...pods,
        [...new Set(nodes)].join(', '),
      ]),
      sentences: 0,
    },
  ];
}

const nameOf = ({ namespace, name }: { namespace: string; name: string }): string => `${namespace}/${name}`;

/** How long ago a time was, as kubectl writes ages. */
const age = (since: string | null, now: string): Cell =>
  since === null ? null : ageText(Date.parse(now) - Date.parse(since));

const yesOrNo = (value: boolean | null): string => (value === null ? 'not known' : value ? 'yes' : 'no');
