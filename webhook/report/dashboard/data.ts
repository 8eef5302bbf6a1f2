import type { State } from '../../core/networks/daemon-set-status.ts';
import { getOwn } from '../../lib/maps.ts';
import { few } from '../judge/check-result.ts';
import { compare } from '../judge/namespaces.ts';
import { isNotReady, type NetworkRow, urgency } from '../judge/networks.ts';
import type { StatusFacts } from '../observe/observe.ts';
import { statusOf, warningsOf } from '../show/status.ts';
import { ageText, clusterText } from '../show/table.ts';
import { type Table, tablesOf } from '../show/tables.ts';

/** What the page shows, as JSON. Every text in it comes from the cluster and is not trusted. */
export type Dashboard = ReturnType<typeof dashboardOf>;

/**
 * The page's data.
 *
 * @param now milliseconds since the epoch
 * @param stale why the data may be old; null where it is not
 */
export function dashboardOf(facts: StatusFacts, now: number, stale: string | null) {
  const status = statusOf(facts, { now, all: true });
  const { time, result, headline, cluster, namespace, nodes } = status;
  return {
    time,
    result: result === 'well' && warningsOf(status).length > 0 ? 'warning' : result,
    headline,
    stale,
    name: cluster.context ?? cluster.server,
    about: `${clusterText(cluster, result === 'not-installed')}${namespace === null ? '' : ` Namespace ${namespace}.`}`,
    grid: gridOf(nodes, (node) => facts.readiness.node(node)?.labels ?? {}, now),
    tables: [reasonsOf(nodes), ...tablesOf(status, true)],
  };
}

/** A network with its nodes or groups of nodes. */
export interface Band {
  network: string;
  inUse: boolean;
  cells: GridCell[];
}

/** A coloured cell: a network on a node, or on the nodes of a pool that are in one state. */
export interface GridCell {
  /** The node, or the pool. */
  name: string;
  /** How many nodes it stands for. */
  count: number;
  /** Null where the network is nothing to the node. */
  state: State | null;
  /** Reasons, with the number of nodes of each where there are several. */
  why: string;
}

/** With more nodes, the grid has groups of them. */
const mostNodes = 200;
/** Pools that have groups of their own; the nodes of others are together. */
const mostPools = 20;

const networkOf = ({ daemonSet, why }: NetworkRow): string => daemonSet ?? why.split(':')[0] ?? '';
const urgencyOf = (state: State | null): number => (state === null ? urgency.length : urgency.indexOf(state));

/** Nodes and networks as a picture: the worst networks and nodes first. */
function gridOf(
  rows: readonly NetworkRow[],
  labelsOf: (node: string) => Record<string, string>,
  now: number,
) {
  // rows come worst first: so do networks, and nodes by their worst network
  const nodes = [...new Set(rows.map(({ node }) => node))];
  const grouped = nodes.length > mostNodes;
  const poolOf = grouped ? poolsOf(nodes, labelsOf) : new Map<string, string>();
  const bands = Array.from(Map.groupBy(rows, networkOf), ([network, same]): Band => {
    const byNode = new Map(same.map((row) => [row.node, row]));
    const single = nodes.map((name): GridCell => {
      const { state = null, why = '', since = null } = byNode.get(name) ?? {};
      const age = why === '' || since === null ? '' : ` (for ${ageText(now - Date.parse(since))})`;
      return { name, count: 1, state, why: `${why}${age}` };
    });
    const cells = grouped ? groupsOf(same, (node) => poolOf.get(node) ?? '') : single;
    return { network, inUse: same[0]?.inUse ?? false, cells };
  });
  return { nodes: nodes.length, grouped, bands };
}

/** The nodes of a network by state and pool: the worst state first, then the largest group. */
function groupsOf(rows: readonly NetworkRow[], poolOf: (node: string) => string): GridCell[] {
  const groups = Map.groupBy(rows, ({ node, state }) => `${state} ${poolOf(node)}`);
  const cells = Array.from(groups.values(), (same): GridCell => {
    const [first] = same;
    const reasons = countedReasons(same.filter(({ why }) => why !== '')).map(
      ([why, of]) => `${why} (${of.length})`,
    );
    const names = few(
      same.map(({ node }) => node),
      3,
    );
    const state = first?.state ?? null;
    return {
      ...{ name: first ? poolOf(first.node) : '', count: same.length, state },
      why: [...(reasons.length > 0 ? [few(reasons, 3, '; ')] : []), `Nodes: ${names}`].join('. '),
    };
  });
  return cells.toSorted(
    (left, right) =>
      urgencyOf(left.state) - urgencyOf(right.state) ||
      right.count - left.count ||
      compare(left.name, right.name),
  );
}

/** Labels that name the pool of a node, by cloud; then the zone. */
const poolLabels = [
  'eks.amazonaws.com/nodegroup',
  'cloud.google.com/gke-nodepool',
  'kubernetes.azure.com/agentpool',
  'karpenter.sh/nodepool',
  'topology.kubernetes.io/zone',
];

/** The pool of each node: of its labels the first that is there, or its name up to the first digit. */
function poolsOf(nodes: readonly string[], labelsOf: (node: string) => Record<string, string>) {
  const poolOf = (node: string): string =>
    poolLabels.flatMap((label) => getOwn(labelsOf(node), label) ?? [])[0] ??
    (node.replace(/[-.]?\d.*$/, '') || node);
  const pools = Map.groupBy(nodes, poolOf);
  const largest = [...pools].toSorted(([, left], [, right]) => right.length - left.length);
  const kept = new Set(largest.slice(0, mostPools).map(([pool]) => pool));
  return new Map(nodes.map((node) => [node, kept.has(poolOf(node)) ? poolOf(node) : 'other pools']));
}

/** The rows of each reason, the most frequent first. */
const countedReasons = (rows: readonly NetworkRow[]): [why: string, rows: NetworkRow[]][] =>
  [...Map.groupBy(rows, ({ why }) => why)].toSorted(([, left], [, right]) => right.length - left.length);

/** Why nodes are not ready for networks in use, with the number of nodes of each reason. */
function reasonsOf(nodes: readonly NetworkRow[]): Table {
  const byState = Map.groupBy(nodes.filter(isNotReady), (row) => `${row.state} ${networkOf(row)}`);
  const rows = [...byState.values()].flatMap((same) =>
    countedReasons(same).map(([why, [first, ...rest]]) => [
      String(rest.length + 1),
      first ? networkOf(first) : null,
      first?.state ?? null,
      why,
    ]),
  );
  return {
    id: 'reasons',
    title: 'Why nodes are not ready',
    head: ['NODES', 'NETWORK', 'STATE', 'WHY'],
    rows,
    sentences: 1,
  };
}
