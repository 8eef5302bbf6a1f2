import { errorCodes, errorPage } from '../lib/errors.ts';
import { dashboardLimits } from '../lib/limits.ts';
import type { NodeFacts } from '../readiness/facts.ts';
import { type State, states } from '../readiness/state.ts';
import { compare } from '../status/daemon-sets.ts';
import type { NodeStatus, Status } from '../status/model.ts';
import type { History } from './history.ts';
import type { Cell, Dashboard, ExplainedFault, Network, NodeRow, Proved, Rows } from './model.ts';

/** What a dashboard depends on beside the status. */
export interface DashboardOptions {
  /** Label of nodes that names their group; without it, those that clouds and Karpenter set. */
  groupLabel: string | undefined;
  /** Why the data may be old; null where it is not. */
  stale: string | null;
}

const zoneLabel = 'topology.kubernetes.io/zone';

/** Labels by which clouds and autoscalers name the group of a node. */
const groupLabels = [
  'eks.amazonaws.com/nodegroup',
  'cloud.google.com/gke-nodepool',
  'kubernetes.azure.com/agentpool',
  'karpenter.sh/nodepool',
  'kops.k8s.io/instancegroup',
  'node.cluster.x-k8s.io/deployment-name',
];

/** The dashboard of a status with all nodes (`all`). The same arguments give the same dashboard. */
export function dashboardOf(
  status: Status,
  nodeFacts: Iterable<Pick<NodeFacts, 'name' | 'labels'>>,
  history: Pick<History, 'proofs' | 'repairs'>,
  { groupLabel, stale }: DashboardOptions,
): Dashboard {
  const { time, verdict, headline, cluster, configuration, verbs, installation, notKnown, namespace, pods } =
    status;
  const texts = new TextTable();
  const networks = networksOf(status);
  return {
    time,
    cluster,
    stale,
    verdict,
    headline,
    configuration,
    verbs,
    installation,
    notKnown,
    namespace,
    pods,
    states,
    networks,
    nodes: nodeRows(status, networks, nodeFacts, groupLabel, texts),
    texts: texts.all,
    faults: status.faults.map(explained),
    namespaces: firstOf(status.namespaces),
    heldPods: longest(status.heldPods),
    failedPods: longest(status.failedPods),
    waitingPods: longest(status.waitingPods),
    unprovedPods: firstOf(status.unprovedPods),
    duplicateAddresses: firstOf(status.duplicateAddresses),
    proofs: history.proofs(),
    repairs: history.repairs(),
  };
}

const firstOf = <T>(rows: readonly T[]): Rows<T> => ({
  total: rows.length,
  rows: rows.slice(0, dashboardLimits.rows),
});

/** The first rows of those that last longest. */
const longest = <T extends { since: string | null }>(rows: readonly T[]): Rows<T> =>
  // RFC 3339 in UTC sorts as text; a time that is not known comes last
  firstOf(rows.toSorted((one, other) => compare(one.since ?? '~', other.since ?? '~')));

const explained = ({ code, message }: Status['faults'][number]): ExplainedFault => ({
  code,
  message,
  meaning: errorCodes[code],
  page: errorPage(code),
});

/** The DaemonSets that are there or asked for, those in use first, then the profiles of proofs that have none. */
function networksOf({ daemonSets, nodeProofs }: Status): Network[] {
  const ofDaemonSets = daemonSets
    .map(({ namespace, name, profiles, inUse, exists }) => ({
      name: `${namespace}/${name}`,
      profiles,
      inUse,
      exists,
    }))
    .toSorted((one, other) => Number(other.inUse) - Number(one.inUse));
  const covered = new Set(daemonSets.flatMap(({ profiles }) => profiles));
  const others = new Set(nodeProofs.map(({ profile }) => profile).filter((name) => !covered.has(name)));
  const ofProfiles = [...others].map((name) => ({ name, profiles: [name], inUse: true, exists: true }));
  return [...ofDaemonSets, ...ofProfiles];
}

function nodeRows(
  { nodes, nodeProofs }: Status,
  networks: readonly Network[],
  nodeFacts: Iterable<Pick<NodeFacts, 'name' | 'labels'>>,
  groupLabel: string | undefined,
  texts: TextTable,
): NodeRow[] {
  const columns = new Map(networks.map(({ name }, index) => [name, index]));
  const rows = new Map<string, NodeRow>();
  const rowOf = (name: string, labels: Record<string, string> = {}): NodeRow => {
    const known = rows.get(name);
    if (known !== undefined) return known;
    const cells: (Cell | null)[] = networks.map(() => null);
    const row = {
      name,
      zone: labels[zoneLabel] ?? '',
      group: groupOf(labels, groupLabel),
      cells,
      proved: [],
    };
    rows.set(name, row);
    return row;
  };
  for (const { name, labels } of nodeFacts) rowOf(name, labels);
  for (const one of nodes) {
    const column = columns.get(one.daemonSet);
    if (column !== undefined) rowOf(one.node).cells[column] = cellOf(one, texts);
  }
  for (const { node, profile, state, provedBy, provedAt, why } of nodeProofs) {
    const row = rowOf(node);
    if (provedBy !== null) row.proved.push([profile, provedBy, secondsOf(provedAt)] satisfies Proved);
    const column = columns.get(profile);
    // of a network without a DaemonSet, proofs are all that is known
    if (column === undefined) continue;
    const is: State = state === 'proved' ? 'ready' : state;
    row.cells[column] = [states.indexOf(is), null, null, texts.indexOf(why)];
  }
  return [...rows.values()];
}

const groupOf = (labels: Record<string, string>, own: string | undefined): string =>
  (own === undefined ? groupLabels : [own]).map((label) => labels[label]).find((value) => value) ?? '';

const cellOf = ({ state, since, pod, why }: NodeStatus, texts: TextTable): Cell => [
  states.indexOf(state),
  secondsOf(since),
  pod,
  texts.indexOf(why),
];

const secondsOf = (time: string | null): number | null =>
  time === null ? null : Math.floor(Date.parse(time) / 1000);

/** Each text once: thousands of nodes miss the same. */
class TextTable {
  readonly all: string[] = [''];
  readonly #indexes = new Map([['', 0]]);

  indexOf(text: string): number {
    const known = this.#indexes.get(text);
    if (known !== undefined) return known;
    const index = this.all.push(text) - 1;
    this.#indexes.set(text, index);
    return index;
  }
}
