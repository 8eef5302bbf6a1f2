import { clean } from '../../lib/clean.ts';
import { statusRole } from '../../lib/names.ts';
import { wrap } from '../../lib/wrap.ts';
import { type State, states } from '../../nodes/readiness/state.ts';
import { clusterText } from '../facts/cluster-identity.ts';
import { type ProofCounts, proofStates } from '../facts/proof.ts';
import { ageText } from '../text/age.ts';
import { plain, type TextOptions } from '../text/options.ts';
import { type Cell, layTable } from '../text/table.ts';
import { countsOf } from './headline.ts';
import type { DaemonSetSummary, Status } from './model.ts';

/** Rows of a table that are shown where not all are asked for: what fits on a screen or two. */
const mostRows = 50;

/** A narrower terminal breaks lines by itself. */
const leastWidth = 40;

/** A table; it is left out without rows. */
interface Table {
  head: string[];
  rows: Cell[][];
  /** How many of the last columns hold sentences. */
  sentences?: number;
}

/**
 * A status for people.
 *
 * @param all every row, however many there are
 */
export function statusText(
  status: Status,
  all: boolean,
  { width: asked = Number.POSITIVE_INFINITY, paint = plain }: TextOptions = {},
): string {
  const width = Math.max(asked, leastWidth);
  const { verdict, headline, cluster } = status;
  const isGone = verdict === 'not-installed';
  const shown = isGone ? tablesWithoutInstallation(status) : tablesOf(status, all);
  const max = all || isGone ? Number.POSITIVE_INFINITY : mostRows;
  const sentences = [
    ...summary(status),
    clusterText(cluster, isGone),
    ...(isGone ? [] : [`Status at ${status.time}, by ${status.configuration}`, whoOptedIn(status, all)]),
  ];
  const lines = [
    // in one line, however long: scripts and people read the first one
    paint(verdict === 'well' ? 'green' : 'red', clean(headline)),
    ...sentences.flatMap((text) => wrap(clean(text), width)),
    ...shown.flatMap((table) => linesOf(table, max, width)),
    ...(isGone ? [] : advice(status)).flatMap((text) => ['', ...wrap(text, width)]),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

function linesOf({ head, rows, sentences = 1 }: Table, max: number, width: number): string[] {
  if (rows.length === 0) return [];
  const shown = rows.slice(0, max).map((row) => row.map((cell) => cell && clean(cell)));
  const more = rows.length - shown.length;
  return [
    '',
    ...layTable(head, shown, width, sentences),
    ...(more > 0 ? [`and ${more} more: --all shows them`] : []),
  ];
}

/** The number of problems where there are several, and the result of `--probe`. */
function summary(status: Status): string[] {
  const { verdict, probe, faults } = status;
  const counts = countsOf(status);
  // without a fault the first line has them all
  const more = verdict === 'not-well' && faults.length > 0 && counts.length + faults.length > 2;
  return [
    ...(more ? [`In all: ${counts.join(', ')}.`] : []),
    ...(probe === null
      ? []
      : [`Probe${probe.namespace ? ` in namespace ${probe.namespace}` : ''}: ${probe.what}`]),
  ];
}

function whoOptedIn({ namespace, namespaces }: Status, all: boolean): string {
  const names = namespaces.map(({ name, profile }) => `${name} (${profile})`);
  if (names.length === 0)
    return namespace === null ? 'No namespace has opted in.' : `Namespace ${namespace} has not opted in.`;
  const max = all ? names.length : 10;
  const more = names.length - max;
  return `Opted in: ${names.slice(0, max).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function advice({ installation, features }: Status): string[] {
  return [
    ...(installation.some(({ result }) => result === 'failed')
      ? ['To check the installation, with a hint and a link for each fault: cni-gate check']
      : []),
    ...(features.some(({ inForce }) => inForce === null)
      ? [`ClusterRole ${statusRole} has the rights to all that is not known here.`]
      : []),
  ];
}

const faultTable = (faults: Status['faults']): Table => ({
  head: ['FAULT'],
  rows: faults.map(({ code, message }) => [`${message} (${code})`]),
});

const tablesWithoutInstallation = ({ leftBehind, faults }: Status): Table[] => [
  { head: ['LEFT BEHIND'], rows: leftBehind.map((what) => [what]) },
  // the first line has the first one
  faultTable(faults.slice(1)),
];

function tablesOf(status: Status, all: boolean): Table[] {
  const { features, installation, faults } = status;
  return [
    {
      head: ['FEATURE', 'MODE', 'IN FORCE', 'WHY'],
      rows: features.map(({ feature, mode, inForce, why }) => [feature, mode, yesOrNo(inForce), why]),
    },
    {
      head: ['CHECK', 'RESULT', 'WHAT'],
      rows: installation
        .filter(({ result }) => all || result !== 'passed')
        .map(({ id, result, what }) => [id, result, what]),
    },
    ...nodeTables(status),
    ...podTables(status),
    faultTable(faults),
  ];
}

function nodeTables({ time, daemonSets, nodes, nodeProofs }: Status): Table[] {
  const shown = states.filter(
    (state) => state === 'ready' || daemonSets.some(({ nodes: counts }) => counts[state] > 0),
  );
  return [
    {
      head: ['DAEMONSET', 'PROFILES', 'IN USE', ...shown.map((state) => state.toUpperCase())],
      rows: daemonSets.map((one) => daemonSetRow(one, shown)),
      sentences: 0,
    },
    {
      head: ['NODE', 'DAEMONSET', 'STATE', 'AGE', 'POD', 'WHY'],
      rows: nodes.map((one) => [one.node, one.daemonSet, one.state, age(one.since, time), one.pod, one.why]),
    },
    {
      head: ['NODE', 'PROFILE', 'PROOFS', 'PROVED AGO', 'BY', 'WHY'],
      rows: nodeProofs.map(({ node, profile, state, provedAt, provedBy, why }) => {
        // the table above has the reason already where the profile has a DaemonSet
        const isKnown = nodes.some((one) => one.node === node && one.why === why);
        return [node, profile, state, age(provedAt, time), provedBy, isKnown ? null : why];
      }),
    },
  ];
}

function daemonSetRow(
  { namespace, name, profiles, inUse, exists, nodes }: DaemonSetSummary,
  shown: readonly State[],
): Cell[] {
  const counts = shown.map((state) => (exists ? String(nodes[state]) : null));
  return [`${namespace}/${name}`, profiles.join(','), yesOrNo(inUse), ...counts];
}

function podTables(status: Status): Table[] {
  const { time } = status;
  const nameOf = ({ namespace, name }: { namespace: string; name: string }): string => `${namespace}/${name}`;
  return [
    proofTable(status),
    {
      head: ['HELD POD', 'REFUSED NODE', 'AGE', 'NOMINATED', 'WHY', 'NOT NOMINATED'],
      rows: status.heldPods.map((pod) => [
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
      head: ['FAILED PROOF', 'NODE', 'VERDICT', 'AGE', 'WHY', 'REPAIR'],
      rows: status.failedPods.map((pod) => [
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
      head: ['WAITING POD', 'NODE', 'AGE', 'WHY'],
      rows: status.waitingPods.map((pod) => [nameOf(pod), pod.node, age(pod.since, time), pod.why]),
    },
    {
      head: ['POD WITHOUT PROOF', 'NODE', 'WHY'],
      rows: status.unprovedPods.map((pod) => [nameOf(pod), pod.node, pod.why]),
    },
    {
      head: ['DUPLICATE ADDRESS', 'NETWORK', 'OLDER POD', 'YOUNGER POD', 'NODES'],
      rows: status.duplicateAddresses.map(({ network, address, pods, nodes }) => [
        address,
        network ?? 'pods',
        ...pods,
        [...new Set(nodes)].join(', '),
      ]),
      sentences: 0,
    },
  ];
}

/** How many pods are in which state of their check; nothing where there are no pods. */
function proofTable({ namespaces, pods }: Status): Table {
  const row = (name: string, counts: ProofCounts): Cell[] => [
    name,
    ...proofStates.map((state) => String(counts[state])),
  ];
  const some = namespaces.filter(({ pods: counts }) => Object.values(counts).some((count) => count > 0));
  const rows = some.map(({ name, pods: counts }) => row(name, counts));
  return {
    head: ['NAMESPACE', 'PASSED', 'FAILED', 'WAITING', 'OPTED OUT', 'UNPROVED', 'LEFT ALONE'],
    // the sum comes first: it stays where rows are left out
    rows: some.length > 1 ? [row('all', pods), ...rows] : rows,
    sentences: 0,
  };
}

/** How long ago a time was, as kubectl writes ages. */
const age = (since: string | null, now: string): Cell =>
  since === null ? null : ageText(Date.parse(now) - Date.parse(since));

const yesOrNo = (value: boolean | null): string => (value === null ? 'not known' : value ? 'yes' : 'no');
