import { clean } from '../lib/clean.ts';
import { statusRole } from '../lib/names.ts';
import { type State, states } from '../readiness/state.ts';
import { withoutLead } from '../repair/notices.ts';
import { ageText } from './age.ts';
import { clusterText } from './cluster-identity.ts';
import { emphasisBy, type Paint } from './emphasis.ts';
import { countsOf } from './headline.ts';
import type { DaemonSetSummary, Status } from './model.ts';
import { type ProofCounts, proofStates } from './proof.ts';
import { type Cell, layTable, wrap } from './table.ts';

/** Rows of a table that are shown where not all are asked for: what fits on a screen or two. */
const mostRows = 50;

/** A narrower terminal breaks lines by itself. */
const leastWidth = 40;

/** How a text looks. */
export interface TextOptions {
  /** Characters of a line; absent: without a limit, so that each row of a table is one line. */
  width?: number;
  paint?: Paint;
  /** Whether ages have their times beside them. */
  times?: boolean;
}

/** Lines that fit already and may hold colours, beside plain ones, which are made to fit. */
type Line = string | { laid: string };

/**
 * A status for people.
 *
 * @param all every row, however many there are
 */
export function statusText(
  status: Status,
  all: boolean,
  {
    width: asked = Number.POSITIVE_INFINITY,
    paint = (_style, text) => text,
    times = false,
  }: TextOptions = {},
): string {
  const { time, configuration, verbs, installation, daemonSets, nodes, heldPods, unprovedPods, faults } =
    status;
  const { failedPods, waitingPods, duplicateAddresses, nodeProofs, cluster, leftBehind } = status;
  const max = all ? Number.POSITIVE_INFINITY : mostRows;
  const width = Math.max(asked, leastWidth);
  const emphasis = emphasisBy(paint);
  const shownStates = states.filter(
    (state) => state === 'ready' || daemonSets.some(({ nodes: counts }) => counts[state] > 0),
  );
  const since = (text: string | null): Cell => withAge(text, time, times);
  const [age, lastProved] = times ? ['SINCE', 'LAST PROVED'] : ['AGE', 'PROVED AGO'];
  /** A table after an empty line; nothing where it has no rows. */
  const table = (head: string[], rows: Cell[][], mostShown: number, sentences = 1): Line[] => {
    if (rows.length === 0) return [];
    const shown = rows.slice(0, mostShown).map((row) => row.map((cell) => cell && clean(cell)));
    const more = rows.length - shown.length;
    return [
      '',
      ...layTable(head, shown, { width, sentences, emphasis }).map((laid) => ({ laid })),
      ...(more > 0 ? [`and ${more} more: --all shows them`] : []),
    ];
  };
  const faultTable = (shown: Status['faults']): Line[] =>
    table(
      ['FAULT'],
      shown.map(({ code, message }) => [`${message} (${code})`]),
      max,
    );
  const first: Line[] = [...verdict(status, paint), clusterText(cluster, status.verdict === 'not-installed')];
  const withoutInstallation = (): Line[] => [
    ...table(
      ['LEFT BEHIND'],
      leftBehind.map((what) => [what]),
      max,
    ),
    // the first line has the first one
    ...faultTable(faults.slice(1)),
  ];
  const ofInstallation = (): Line[] => [
    `Status at ${time}, by ${configuration}`,
    whoOptedIn(status, all),
    ...table(
      ['VERB', 'MODE', 'IN FORCE', 'WHY'],
      verbs.map(({ verb, mode, inForce, why }) => [verb, mode, yesOrNo(inForce), why]),
      max,
    ),
    ...table(
      ['INSTALLATION', 'IN ORDER', 'WHAT'],
      installation
        .filter(({ inOrder }) => all || inOrder !== true)
        .map(({ object, inOrder, what }) => [object, yesOrNo(inOrder), what]),
      max,
    ),
    ...table(
      ['DAEMONSET', 'PROFILES', 'IN USE', ...shownStates.map((state) => state.toUpperCase())],
      daemonSets.map((one) => daemonSetRow(one, shownStates)),
      max,
      0,
    ),
    ...table(
      ['NODE', 'DAEMONSET', 'STATE', age, 'POD', 'WHY'],
      nodes.map((node) => [node.node, node.daemonSet, node.state, since(node.since), node.pod, node.why]),
      max,
    ),
    ...table(
      ['NODE', 'PROFILE', 'PROOFS', lastProved, 'BY', 'WHY'],
      nodeProofs.map(({ node, profile, state, provedAt, provedBy, why }) => {
        // the table above has the reason already where the profile has a DaemonSet
        const isKnown = nodes.slice(0, max).some((one) => one.node === node && one.why === why);
        return [node, profile, state, since(provedAt), provedBy, isKnown ? null : why];
      }),
      max,
    ),
    ...proofTable(status, table, max),
    ...table(
      ['HELD POD', 'REFUSED NODE', age, 'SENT TO', 'WHY', 'NOT SENT'],
      heldPods.map((pod) => [
        `${pod.namespace}/${pod.name}`,
        pod.refused,
        since(pod.since),
        pod.nominated,
        pod.why,
        pod.unsent?.why ?? null,
      ]),
      max,
      2,
    ),
    ...table(
      ['FAILED PROOF', 'NODE', 'VERDICT', age, 'WHY', 'REPAIR'],
      failedPods.map((pod) => [
        `${pod.namespace}/${pod.name}`,
        pod.node,
        pod.verdict,
        since(pod.since),
        pod.why,
        pod.repair && withoutLead(pod.repair),
      ]),
      max,
      2,
    ),
    ...table(
      ['WAITING POD', 'NODE', 'FOR', age, 'WHY'],
      waitingPods.map((pod) => [
        `${pod.namespace}/${pod.name}`,
        pod.node,
        pod.reason,
        since(pod.since),
        pod.why,
      ]),
      max,
    ),
    ...table(
      ['POD WITHOUT PROOF', 'NODE', 'WHY'],
      unprovedPods.map(({ namespace, name, node, why }) => [`${namespace}/${name}`, node, why]),
      max,
    ),
    ...table(
      ['DUPLICATE ADDRESS', 'NETWORK', 'OLDER POD', 'YOUNGER POD', 'NODES'],
      duplicateAddresses.map(({ network, address, pods, nodes: on }) => [
        address,
        network ?? 'pods',
        ...pods,
        [...new Set(on)].join(', '),
      ]),
      max,
      0,
    ),
    ...faultTable(faults),
    ...(installation.some(({ inOrder }) => inOrder === false)
      ? ['', 'To check the installation, with a hint and a link for each fault: cni-gate check']
      : []),
    ...(verbs.some(({ inForce }) => inForce === null)
      ? ['', `ClusterRole ${statusRole} has the rights to all that is not known here.`]
      : []),
  ];
  return [...first, ...(status.verdict === 'not-installed' ? withoutInstallation() : ofInstallation())]
    .flatMap((line) => (typeof line === 'string' ? wrap(clean(line), width) : line.laid))
    .map((line) => `${line}\n`)
    .join('');
}

/** How many pods are in which state of their check; nothing where there are no pods. */
function proofTable(
  { namespaces, pods }: Status,
  table: (head: string[], rows: Cell[][], max: number, sentences: number) => Line[],
  max: number,
): Line[] {
  const row = (name: string, counts: ProofCounts): Cell[] => [
    name,
    ...proofStates.map((state) => String(counts[state])),
  ];
  const some = namespaces.filter(({ pods: counts }) => Object.values(counts).some((count) => count > 0));
  if (some.length === 0) return [];
  const rows = some.slice(0, max).map(({ name, pods: counts }) => row(name, counts));
  const rest = some.length - rows.length;
  return [
    ...table(
      ['NAMESPACE', 'PASSED', 'FAILED', 'WAITING', 'OPTED OUT', 'UNPROVED', 'LEFT ALONE'],
      some.length > 1 ? [...rows, row('all', pods)] : rows,
      Number.POSITIVE_INFINITY,
      0,
    ),
    ...(rest > 0 ? [`and ${rest} more namespaces, which are counted in all: --all shows them`] : []),
  ];
}

/** The age of a time, as kubectl writes ages. */
function withAge(since: string | null, now: string, times: boolean): Cell {
  if (since === null) return null;
  const age = ageText(Date.parse(now) - Date.parse(since));
  return times ? `${since} (${age})` : age;
}

const yesOrNo = (value: boolean | null): string => (value === null ? 'not known' : value ? 'yes' : 'no');

function whoOptedIn({ namespace, namespaces }: Status, all: boolean): string {
  const names = namespaces.map(({ name, profile }) => `${name} (${profile})`);
  if (names.length > 0) return `Opted in: ${few(names, all)}`;
  return namespace === null ? 'No namespace has opted in.' : `Namespace ${namespace} has not opted in.`;
}

function daemonSetRow(
  { namespace, name, profiles, inUse, exists, nodes }: DaemonSetSummary,
  shown: readonly State[],
): Cell[] {
  const counts = shown.map((state) => (exists ? String(nodes[state]) : null));
  return [`${namespace}/${name}`, profiles.join(','), yesOrNo(inUse), ...counts];
}

/** The result, that of `--probe`, and the number of problems where there are several. */
function verdict(status: Status, paint: Paint): Line[] {
  const { headline, verdict: is, probe } = status;
  const counts = countsOf(status);
  // without a fault the first line has them all
  const more = is === 'not-well' && status.faults.length > 0 && counts.length + status.faults.length > 2;
  return [
    // in one line, however long: scripts and people read the first one
    { laid: paint(is === 'well' ? 'green' : 'red', clean(headline)) },
    ...(more ? [`In all: ${counts.join(', ')}.`] : []),
    ...(probe === null
      ? []
      : [`Probe${probe.namespace ? ` in namespace ${probe.namespace}` : ''}: ${probe.what}`]),
  ];
}

/** A list that stays on a line or two. */
function few(names: string[], all: boolean): string {
  const max = all ? names.length : 10;
  const more = names.length - max;
  return names.slice(0, max).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
